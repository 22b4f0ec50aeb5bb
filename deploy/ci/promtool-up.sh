#!/usr/bin/env bash
# Sees to it that Prometheus' `promtool` is there, by which the alert rules and the dashboard are checked: one that is
# there already is used as it is, else (on Debian) it is taken out of the package, whose server is not installed. It then
# lies in STATE, and the environment variable PROMTOOL tells where: `export PROMTOOL=$(bash deploy/ci/promtool-up.sh)`.
set -euo pipefail

STATE=${STATE:-${TMPDIR:-/tmp}/croupier-promtool}

if command -v promtool; then
  exit 0
fi
if [ ! -x "$STATE/promtool" ]; then
  mkdir -p "$STATE"
  work=$(mktemp -d "$STATE/package.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  apt-get update -qq >&2
  (cd "$work" && apt-get download -qq prometheus >&2)
  dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/promtool
  mv "$work/usr/bin/promtool" "$STATE/promtool"
fi
"$STATE/promtool" --version >&2
echo "$STATE/promtool"
