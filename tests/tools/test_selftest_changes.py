# SPDX-License-Identifier: Apache-2.0
"""What the self-test program changes is put back, and nothing else is; what cannot be put back is a fault."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from meridian_selftest import changes
from meridian_selftest.result import Fail

TOOLS = Path(__file__).resolve().parents[2] / "host-driver" / "tools"


def refuse() -> None:
    raise OSError(errno.EBUSY, "busy")


def test_what_was_refused_is_not_put_back() -> None:
    """Somebody has made VFs just before: they are not ours."""
    done: list[str] = []
    with pytest.raises(OSError, match="busy"), changes.changed(refuse, lambda: done.append("back"), "it"):
        done.append("inside")
    assert done == []


def test_what_cannot_be_put_back_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Fail, match="it is not put back: .*busy"), changes.changed(lambda: None, refuse, "it"):
        pass
    with pytest.raises(KeyError), changes.changed(lambda: None, refuse, "it"):
        raise KeyError
    assert "it is not put back" in capsys.readouterr().err


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    """As nohup has it."""
    script = (
        "import os, signal\nfrom meridian_selftest import changes\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nchanges.watch_signals()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\nprint('goes on')"
    )
    environment = os.environ | {"PYTHONPATH": str(TOOLS)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "goes on\n", done.stderr
