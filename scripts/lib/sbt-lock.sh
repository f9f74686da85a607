# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts that run sbt, behind env.sh. Two sbt of one checkout would compile into the same folder.
lock_sbt() { # until this shell and what it has started end
  [ "${MERIDIAN_SBT_LOCKED:-}" != "$MERIDIAN_ROOT" ] || return 0 # who has called this script has the lock
  exec 7<"$MERIDIAN_ROOT/spinal/build.sbt" # a file that no clean removes
  flock --nonblock 7 || { echo "[sbt] another sbt runs in $MERIDIAN_ROOT, this one waits for its end" >&2 && flock 7; } || return
  export MERIDIAN_SBT_LOCKED=$MERIDIAN_ROOT
}
