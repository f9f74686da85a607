# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by commands that work for more than ten seconds. `progress TAG` begins, then each `say TEXT` begins a stage and ends
# the one before. TEXT has the stage's bound. If the variable log names a file, the line names it, too.
# `progress_line TEXT` is for what is no stage: it has neither a time nor a log.
#
# On a terminal the line has the time that has passed in front, second by second. Elsewhere a line is written when the stage
# begins, and another one with its time when it ends, if it took ten seconds. The last line has the time of all stages.

progress() { # TAG
  progress_tag=$1 progress_begun=$SECONDS progress_stages=0 progress_text="" progress_ticker=""
  progress_least=${progress_least:-10}
  trap progress_end EXIT
}

progress_time() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); } # SECONDS

progress_line() { # TEXT: in the place of a time that stands there
  local clear=""
  [ ! -t 2 ] || clear=$'\r\e[K'
  printf '%s[%s] %s\n' "$clear" "$progress_tag" "$1" >&2
}

progress_runs() { # PID: a process that has ended, and whose parent has not noticed it yet, does not run
  local state
  { read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null && [ "$state" != Z ]
}

progress_tick() { # PID: while this command has not ended
  local line columns begun=$SECONDS
  columns=$({ stty size <&2 | cut -d' ' -f2; } 2>/dev/null || true)
  while progress_runs "$1"; do
    line="[$progress_tag] $(progress_time $((SECONDS - begun))) $progress_text"
    printf '\r\e[K%s' "${line:0:$((${columns:-80} - 1))}" >&2
    sleep 1
  done
}

progress_stage_end() {
  local seconds=$((SECONDS - progress_stage)) what=${progress_text%%[;(]*}
  if [ -n "$progress_ticker" ]; then
    kill "$progress_ticker" 2>/dev/null || true
    ((seconds >= progress_least)) || progress_line "$progress_text"
  fi
  if ((seconds >= progress_least)); then
    progress_line "${what% }: $(progress_time $seconds)"
    progress_stages=$((progress_stages + 1))
  fi
  progress_text="" progress_ticker=""
}

say() { # TEXT
  [ -z "$progress_text" ] || progress_stage_end
  progress_text=$* progress_stage=$SECONDS
  [[ -z ${log:-} || $progress_text == *"log: "* ]] || progress_text+="; log: $log"
  [[ -t 2 && $BASH_SUBSHELL = 0 ]] || { progress_line "$progress_text" && return; }
  # It keeps no lock and no pipe of the command open.
  progress_ticker=$(progress_tick $$ >&2 6>&- 7>&- 8>&- 9>&- & echo $!)
}

progress_end() { # of all stages; before an exec, too
  local seconds=$((SECONDS - progress_begun))
  [ -z "$progress_text" ] || progress_stage_end
  ((progress_stages < 2)) || progress_line "all of it: $(progress_time $seconds)"
  progress_stages=0
}
