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

debian_has() { # SUITE: whether that mirror has the suite
  local mirror file status=0
  mirror=$(debian_mirror | sed 's#/*$##;q')
  [ -n "$mirror" ] || { echo "the system's apt sources name no Debian mirror"; return 1; }
  file=$(mktemp)
  /usr/lib/apt/apt-helper -qq download-file "$mirror/dists/$1/InRelease" "$file" || status=$?
  rm -f "$file"
  return "$status"
}
