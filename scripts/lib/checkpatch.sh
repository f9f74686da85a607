# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the other scripts, after env.sh. Headers of Linux lack checkpatch and semantic patches: this brings them
# into the cache and prints their folder. One brings them, others wait.
linux_scripts() (
  folder=$MERIDIAN_CACHE/checkpatch/linux-source-6.1/scripts
  mkdir -p "$MERIDIAN_CACHE/checkpatch"
  exec 7>"$MERIDIAN_CACHE/checkpatch.lock"
  flock 7
  if [ ! -e "$folder/checkpatch.pl" ] || [ ! -e "$folder/coccinelle/.complete" ]; then
    source=$("$MERIDIAN_ROOT/scripts/build/fetch-source" --binary linux-source-6.1) || exit
    tar -C "$MERIDIAN_CACHE/checkpatch" -xf "$source/usr/src/linux-source-6.1.tar.xz" \
      linux-source-6.1/scripts/{spelling.txt,const_structs.checkpatch,checkpatch.pl,coccinelle} || exit
    touch "$folder/coccinelle/.complete"
  fi
  printf '%s\n' "$folder"
)
