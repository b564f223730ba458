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

# failures_in FOLDER: of each test that failed in ctest's last run there, the lines that say why, else its
# last ones. They end the output, where they are still seen when the rest is cut off.
failures_in() {
    awk '
        function tell(    i) {
            print "-- " name
            for (i = kept > 12 ? kept - 11 : 1; i <= kept; ++i) print substr(line[i], 1, 300)
            for (i = kept > 0 || seen < 5 ? 1 : seen - 4; kept == 0 && i <= seen; ++i) print substr(output[i], 1, 300)
        }
        /^[0-9]+\/[0-9]+ Test: / { name = $3; kept = seen = 0 }
        /^Command: / { next }
        /^<end of output>/ { ended = 1; next }
        /^Output:/ { ended = seen = 0; next }
        !ended { output[++seen] = $0 }
        /ERROR|values:|Error:|Sanitizer|exception|^FAIL|what\(\)/ { line[++kept] = $0 }
        /^Test Failed/ { tell() }
    ' "$1/Testing/Temporary/LastTest.log" || true
}
