#!/usr/bin/env bash
# Sees to it that Node.js and npm are there, for the example in JavaScript: what is there already is used as it is, else
# (on Debian, as root) it is installed from packages. Safe to run again.
set -euo pipefail

NODE_MAJOR_MIN=${NODE_MAJOR_MIN:-18}
export DEBIAN_FRONTEND=noninteractive

say() { printf '[node-up] %s\n' "$*"; }

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  say "installing nodejs and npm"
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null
fi
version=$(node --version)
major=${version#v}
if ((${major%%.*} < NODE_MAJOR_MIN)); then
  say "node $version is too old: $NODE_MAJOR_MIN or newer is needed"
  exit 1
fi
say "node $version, npm $(npm --version)"
