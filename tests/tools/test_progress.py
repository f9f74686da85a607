# SPDX-License-Identifier: Apache-2.0
"""Commands that work for long show the stage, its log, and the time that has passed, on a terminal and in a file."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "scripts" / "lib" / "progress.sh"
#: A stage is told of its end after a second here, in place of ten.
COMMAND = f"""set -euo pipefail
progress_least=1
source {LIBRARY}
progress tag
log=/tmp/its/log
say "compiling (two seconds)"
sleep 2.5
say "linking (no time)"
say "packing (two seconds); log: /tmp/other"
sleep 1.5
echo result
"""


#: A second of the ticker passes in a tenth of one, and none is passed over however busy the computer is.
CLOCK = """
unset SECONDS
SECONDS=0
sleep() {
  SECONDS=$((SECONDS + ${1%.*}))
  if [ "$1" = 1 ]; then command sleep 0.1; else command sleep "$1"; fi
}
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)


def on_a_terminal(script: str, hangs_up: bool = True) -> str:
    """What the script writes on a terminal of 80 columns. hangs_up: what it leaves behind ends with the terminal's session."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL if hangs_up else signal.SIG_IGN)
        os.execvp("bash", ["bash", "-c", script])
    text = b""
    try:
        while part := os.read(terminal, 4096):
            text += part
    except OSError:
        pass  # its other end is closed
    os.close(terminal)
    os.waitpid(pid, 0)
    return text.decode()


def test_a_file_gets_a_line_for_each_stage_and_one_with_its_time() -> None:
    done = run(COMMAND)
    assert done.returncode == 0 and done.stdout == "result\n"
    lines = re.sub(r"0:0[1-9]$", "0:0T", done.stderr, flags=re.MULTILINE).splitlines()
    assert lines == [
        "[tag] compiling (two seconds); log: /tmp/its/log",
        "[tag] compiling: 0:0T",
        "[tag] linking (no time); log: /tmp/its/log",
        "[tag] packing (two seconds); log: /tmp/other",
        "[tag] packing: 0:0T",
        "[tag] all of it: 0:0T",
    ]


def test_a_terminal_shows_the_time_second_by_second_in_one_line() -> None:
    text = on_a_terminal(COMMAND.replace("progress tag\n", f"{CLOCK}progress tag\n"))
    shown = text.split("\r\x1b[K")
    for seconds in (0, 1, 2):
        assert f"[tag] 0:0{seconds} compiling (two seconds); log: /tmp/its/log" in shown
    assert re.search(r"^\[tag\] compiling: 0:0[23]\r\n$", text.replace("\r\x1b[K", "\n"), re.MULTILINE)
    assert "[tag] linking (no time); log: /tmp/its/log\r\n" in shown
    # A line that is longer than the terminal would not be overwritten.
    assert (
        "\n" not in on_a_terminal(f'source {LIBRARY}; progress tag; say "{"word " * 40}"; sleep 0.5').split("word")[1]
    )


def test_a_message_that_is_no_stage_has_neither_time_nor_log() -> None:
    done = run(COMMAND.replace("sleep 2.5", 'progress_line "there are edits"; sleep 2.5'))
    assert re.search(r"^\[tag\] there are edits$", done.stderr, re.MULTILINE)
    assert "there are edits:" not in done.stderr and re.search(
        r"^\[tag\] compiling: 0:0[2-4]$", done.stderr, re.MULTILINE
    )


def test_a_command_that_fails_keeps_its_status_and_the_time_of_its_stage() -> None:
    done = run(COMMAND.replace("echo result", 'say "packing failed; its log: $log"; exit 3'))
    assert done.returncode == 3
    assert re.search(
        r"^\[tag\] packing: 0:0[1-9]\n\[tag\] packing failed; its log: /tmp/its/log\n", done.stderr, re.MULTILINE
    )


def test_no_clock_outlives_its_command() -> None:
    """Neither one that is killed, nor one in a command substitution, whose caller reads until its output is closed."""
    for hangs_up in (True, False):
        begun = time.monotonic()
        text = on_a_terminal(COMMAND.replace("sleep 2.5", "sleep 1; kill -KILL $$"), hangs_up)
        assert "compiling" in text and time.monotonic() - begun < 10
    script = COMMAND.replace("sleep 2.5", 'x=$(say "inside (no time)"; echo value); [ "$x" = value ]')
    text = on_a_terminal(script)
    assert "[tag] inside (no time)" in text and text.count("result") == 1
    assert "inside" not in text.split("linking", 1)[1]
