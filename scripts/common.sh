# What every script here begins with. Sourced, not run.
# shellcheck shell=bash disable=SC2034 # used by who sources it
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

# ccache keeps what was compiled in one clone for every other clone of this machine.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { printf '\n== %s\n' "$*"; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}
