# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the other scripts: where tools and caches are. Sets no option of the calling shell.
MERIDIAN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
MERIDIAN_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/meridian
SBT_VERSION=$(sed -n 's/^sbt.version *= *//p' "$MERIDIAN_ROOT/spinal/project/build.properties")
SBT_JAR=$MERIDIAN_CACHE/sbt/sbt-launch-$SBT_VERSION.jar
VENV=$MERIDIAN_CACHE/venv-$(sha256sum "$MERIDIAN_ROOT/scripts/requirements/tests.txt" | cut -c1-12)
FORMAL_BIN=$MERIDIAN_CACHE/formal-bin
# Tests and the demo import from these folders.
MERIDIAN_PYTHONPATH=$(printf "%s:" "$MERIDIAN_ROOT"/twin/{demo,golden,card/python,client,machine})
MERIDIAN_PYTHONPATH=${MERIDIAN_PYTHONPATH%:}
export MERIDIAN_ROOT MERIDIAN_CACHE MERIDIAN_PYTHONPATH SBT_JAR VENV FORMAL_BIN
# Compilers are called through ccache where it is; the same file in another checkout counts as the same.
export CCACHE_DIR=$MERIDIAN_CACHE/ccache CCACHE_MAXSIZE=2G CCACHE_BASEDIR=$MERIDIAN_ROOT CCACHE_NOHASHDIR=1
case $PATH in
  /usr/lib/ccache:* | *:/usr/lib/ccache:*) ;;
  *) PATH=/usr/lib/ccache:$PATH ;;
esac
export PATH="$VENV/bin:$FORMAL_BIN:$PATH"
