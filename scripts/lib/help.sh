# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For scripts without arguments: --help prints the comment at the script's beginning, and other words are refused.
command=$(realpath "$0")
case "${1:-}" in
  "") ;;
  --help | -h)
    echo "usage: scripts/${command##*/scripts/}"
    sed -n '3,/^[^#]/s/^# //p' "$0"
    exit 0
    ;;
  *)
    echo "usage: scripts/${command##*/scripts/}" >&2
    exit 2
    ;;
esac
