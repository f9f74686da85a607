# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the scripts that take packages of another suite or kind from the mirror the system's own apt uses.

debian_sources() { # FOLDER TYPE SUITE: writes the system's Debian sources, asked for this type and suite, into FOLDER
  local folder=$1 type=$2 suite=$3 release swap file
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  swap="s/(^|[ \t])$release(-[a-z]+|\/updates)?([ \t]|\$)/\1$suite\2\3/g"
  mkdir -p "$folder"
  rm -f "$folder"/*
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    awk -v RS= -v ORS='\n\n' -v release="$release" '$0 ~ "\nSuites:([^\n]* )?" release "([ \n-]|$)"' "$file" |
      sed -E -e "s/^Types:.*/Types: $type/" -e "/^Suites:/{$swap;$swap}" >"$folder/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -s "$file" ] || continue
    { grep -E "^deb(-src)? .* $release([ -]|/)" "$file" || true; } | sed -E -e "s/^deb(-src)? /$type /" -e "$swap" |
      sort -u >"$folder/$(basename "$file" .list).list"
  done
  find "$folder" -size 0 -delete
}

debian_mirror() { # prints where the system's apt has Debian's releases from
  local release file
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    awk -v RS= -v release="$release" '$0 ~ "(^|\n)Suites:([^\n]* )?" release "([ \n]|$)"' "$file" | sed -n 's/^URIs: *\([^ ]*\).*/\1/p'
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    sed -nE "s/^deb (\[[^]]*\] )?([^ ]+) $release .*/\2/p" "$file"
  done
}

debian_has() { # SUITE: status 0 if that mirror has the suite, 3 if it says that it does not, 1 if it could not be asked
  local mirror folder status=0
  mirror=$(debian_mirror | sed 's#/*$##;q')
  [ -n "$mirror" ] || { echo "the system's apt sources name no Debian mirror"; return 1; }
  folder=$(mktemp -d)
  LC_ALL=C /usr/lib/apt/apt-helper -qq download-file "$mirror/dists/$1/InRelease" "$folder/InRelease" \
    >"$folder/said" 2>&1 || status=1
  cat "$folder/said"
  # apt-helper has one status for all errors; its message names that of HTTP, or the missing file of a mirror on disk.
  if ((status)) && grep -qE ' 404 |File not found' "$folder/said"; then status=3; fi
  rm -rf "$folder"
  return "$status"
}

need_suite() { # SUITE LOG: ends the script with status 3 if the mirror has no such suite, and with 1 if nobody knows
  local status=0
  debian_has "$1" >>"$2" 2>&1 || status=$?
  case $status in
    0) return ;;
    3) say "$(debian_mirror | sed 's#/*$##;q') has no suite $1" ;;
    *) say "cannot ask the Debian mirror for suite $1: $(grep -v 'Download Failed' "$2" | tail -n 1)" ;;
  esac
  exit "$status"
}
