# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the other scripts: where tools and caches are. Sets no option of the calling shell.
MERIDIAN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
MERIDIAN_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/meridian
# make, the kernel's build and the generator take a path apart at blanks.
case "$MERIDIAN_ROOT$MERIDIAN_CACHE" in
  *[[:space:]]*)
    echo "meridian: there is a blank in '$MERIDIAN_ROOT' or '$MERIDIAN_CACHE': move the sources, or set XDG_CACHE_HOME" >&2
    exit 2
    ;;
esac
SBT_VERSION=$(sed -n 's/^sbt.version *= *//p' "$MERIDIAN_ROOT/spinal/project/build.properties")
SBT_JAR=$MERIDIAN_CACHE/sbt/sbt-launch-$SBT_VERSION.jar
VENV=$MERIDIAN_CACHE/venv-$(sha256sum "$MERIDIAN_ROOT/scripts/requirements/tests.txt" | cut -c1-12)
FORMAL_BIN=$MERIDIAN_CACHE/formal-bin-${VENV##*-}
# Tests and the demo import from these folders.
MERIDIAN_PYTHONPATH=$(printf "%s:" "$MERIDIAN_ROOT"/twin/{demo,golden,card/python,client,machine})
MERIDIAN_PYTHONPATH=${MERIDIAN_PYTHONPATH%:}
export MERIDIAN_ROOT MERIDIAN_CACHE MERIDIAN_PYTHONPATH SBT_JAR VENV FORMAL_BIN
# Compilers are called through ccache where it is. It reads all headers, so that a new one in front of another is seen; it
# takes the same file below another checkout for the same, and forgets what was compiled for another processor.
export CCACHE_DIR=$MERIDIAN_CACHE/ccache CCACHE_MAXSIZE=2G CCACHE_NODIRECT=1 CCACHE_BASEDIR=$MERIDIAN_ROOT CCACHE_NOHASHDIR=1
CCACHE_NAMESPACE=$(grep -m 1 '^flags' /proc/cpuinfo | sha256sum | cut -c1-8)
export CCACHE_NAMESPACE
if [[ :$PATH: != *:/usr/lib/ccache:* ]] && mkdir -p "$CCACHE_DIR" 2>/dev/null && [ -w "$CCACHE_DIR" ]; then
  PATH=/usr/lib/ccache:$PATH
fi
export PATH="$VENV/bin:$FORMAL_BIN:$PATH"
