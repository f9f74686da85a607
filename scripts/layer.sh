# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the scripts for the Yocto layers, behind env.sh.

layer_venv() { # prints the folder of a venv with kas and oelint-adv, made when it is not there
  local requirements=$MERIDIAN_ROOT/scripts/requirements-layer.txt venv
  venv=$MERIDIAN_CACHE/venv-layer-$(sha256sum "$requirements" | cut -c1-12)
  if [ ! -e "$venv/.complete" ]; then
    python3 -m venv --clear "$venv" >&2 && "$venv/bin/pip" install -q -r "$requirements" >&2 || return 1
    touch "$venv/.complete"
  fi
  printf '%s\n' "$venv"
}

layer_machine() { # BOARD: prints its machine; else a sentence
  local machine
  machine=$(awk -v board="$1" '!/^#/ && $1 == board {print $2}' "$MERIDIAN_ROOT/meta-layer/boards")
  if [ -z "$machine" ]; then
    echo "no Linux for board '$1': BOARD is one of $(awk '!/^#/ {printf sep $1; sep = " "}' "$MERIDIAN_ROOT/meta-layer/boards")" >&2
    return 1
  fi
  printf '%s\n' "$machine"
}

layer_board_dts() { # BOARD: prints what sdtgen calls the board; nothing if AMD has no name for it
  awk -v board="$1" '!/^#/ && $1 == board && $3 != "-" {print $3}' "$MERIDIAN_ROOT/meta-layer/boards"
}
