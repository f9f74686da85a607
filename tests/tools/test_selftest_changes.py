# SPDX-License-Identifier: Apache-2.0
"""What the self-test program changes is put back, and nothing else is; what cannot be put back is a fault."""

from __future__ import annotations

import errno

import pytest
from meridian_selftest import changes
from meridian_selftest.result import Fail


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
