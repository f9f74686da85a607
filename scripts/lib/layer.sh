# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the scripts for the Yocto layers, behind env.sh.

layer_venv() { # prints the folder of a venv with kas and oelint-adv, made when it is not there
  local requirements=$MERIDIAN_ROOT/scripts/requirements/layer.txt venv
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

layer_sources() { # RECIPE FOLDER: copies the files and folders that the recipe in that folder takes from the tree
  local wanted found
  while read -r wanted; do
    mapfile -t found < <(find "$1/files" "$MERIDIAN_ROOT/host-driver/include" -name "$wanted")
    ((${#found[@]})) || { echo "there is no $wanted, which the recipe in $1 takes" >&2; return 1; }
    ((${#found[@]} == 1)) || { echo "the recipe in $1 takes $wanted, and there are several: ${found[*]}" >&2; return 1; }
    cp -r "${found[0]}" "$2" || return 1
  done < <(cat "$1"/*.bb | sed -n '/^SRC_URI/,/[^\\]$/p' | grep -oE 'file://[^ "\\]+' | cut -c8-)
}

# shellcheck disable=SC2034 # the variables are for the recipes, and for who calls it
layer_install() { # SOURCES FOLDER RECIPE...: installs into FOLDER what the recipes would, by their own words; sets units,
  # and directories as bitbake has them
  local S=$1 D=$2 recipe text
  sysconfdir=/etc datadir=/usr/share sbindir=/usr/sbin nonarch_base_libdir=/usr/lib
  systemd_unitdir=/usr/lib/systemd systemd_system_unitdir=/usr/lib/systemd/system
  units=()
  for recipe in "${@:3}"; do
    text=$(cat "$recipe"/*.bb)
    layer_sources "$recipe" "$S" || return 1
    mapfile -t -O "${#units[@]}" units < <(sed -n '/^SYSTEMD_SERVICE/,/[^\\]$/p' <<<"$text" | grep -oE '[^ "=]+\.(service|timer|socket)')
    unset -f do_install
    eval "$(sed -nE '/^do_install(:append)?\(\) \{/,/^\}/p' <<<"$text" | sed -E 's/^do_install(:append)?/do_install/')"
    do_install # by itself, so that the first of its steps that fails ends the script
  done
}

layer_options_help() { # the options that layer_options takes
  cat <<'TEXT'
  --xsa FILE          the hardware hand-off (default: build/vivado/BOARD/meridian-BOARD.xsa)
  --bitstream FILE    the .bit.bin that the card's Linux loads (default: the one beside the hand-off)
  --map MAJOR.MINOR   the bitstream's register map version (default: as in the .txt beside the bitstream)
  --keys FILE         public keys that can log in as root, in the format of authorized_keys; there is no password
  --update-keys FILE  public keys that sign updates; without it, updates have to be unsigned (meridian-update --help)
  --update-version N  a whole number, to be raised with each update; a card refuses an update older than what it runs (0)
TEXT
}

# shellcheck disable=SC2034 # the variables are for who calls it
layer_options() { # WORD...: sets check, xsa, bitstream, map, keys, update_keys, update_version, board, words behind it; 2: wrong words
  local name
  check="" xsa="" bitstream="" map="" keys="" update_keys="" update_version=0
  while (($#)); do
    case "$1" in
      --check) check=yes && shift ;;
      --xsa | --bitstream | --map | --keys | --update-keys | --update-version)
        [ $# -ge 2 ] || return 2
        name=${1#--} && printf -v "${name//-/_}" '%s' "$2" && shift 2
        ;;
      -*) return 2 ;;
      *) break ;;
    esac
  done
  [ $# -ge 1 ] || return 2
  board=$1 words=("${@:2}")
}

layer_inputs() { # fills in what make bitstream has left, and adds what a card that boots lacks to missing
  local built=$MERIDIAN_ROOT/build/vivado/$board/meridian-$board told
  : "${xsa:=$built.xsa}" "${bitstream:=$built.bit.bin}"
  told=${bitstream%.bit.bin}.txt
  [ -n "$map" ] || [ ! -e "$told" ] || map=$(sed -n 's/^map //p' "$told" | tail -n 1)
  [ -e "$xsa" ] || missing+=("hand-off: no $xsa; run 'make bitstream BOARD=$board' first, or say XSA=FILE")
  [ -e "$bitstream" ] ||
    missing+=("bitstream: no $bitstream; 'make bitstream BOARD=$board' makes it if bootgen is on PATH, or say BITSTREAM=FILE MAP=1.2")
  [[ $map =~ ^[0-9]+\.[0-9]+$ ]] ||
    missing+=("register map of the bitstream: '$map' is not MAJOR.MINOR; 'make bitstream' prints it, say MAP=1.2")
  if [ -z "$keys" ]; then
    missing+=("keys: nobody could log in, as there is no password; say KEYS=FILE, as KEYS=~/.ssh/id_ed25519.pub")
  elif ! grep -qsE '^[^#]*(ssh|ecdsa|sk)-[^ ]+ +AAAA' "$keys"; then
    missing+=("keys: there is no public key in $keys")
  fi
  [ -z "$update_keys" ] || grep -qsE '^(ssh|ecdsa|sk)-[^ ]+ +AAAA' "$update_keys" ||
    missing+=("update keys: there is no public key in $update_keys")
  [[ $update_version =~ ^[0-9]{1,18}$ ]] ||
    missing+=("version of the update: '$update_version' is no whole number of at most 18 digits")
  ((EUID)) || missing+=("another user: bitbake does not run as root")
}

layer_settings() { # prints the variables of meta-layer/README.md for these inputs
  cat <<CONF
MERIDIAN_BITSTREAM = "$(realpath -- "$bitstream")"
MERIDIAN_BITSTREAM_MAP = "$map"
MERIDIAN_AUTHORIZED_KEYS = "$(realpath -- "$keys")"
MERIDIAN_UPDATE_KEYS = "${update_keys:+$(realpath -- "$update_keys")}"
MERIDIAN_UPDATE_VERSION = "$update_version"
CONF
}
