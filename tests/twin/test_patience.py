# SPDX-License-Identifier: Apache-2.0
"""MERIDIAN_PATIENCE makes every bound longer."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest
from meridian_twin import CardError, CardProcess
from meridian_twin.patience import VARIABLE, PatienceError, deadline_in, end_of, stretched
from meridian_twin.waiting import LinkTimeout, Waiting
from meridian_twin.wire import Wire


class Idle(Waiting):
    def _pass(self, pause: float) -> None:
        time.sleep(pause)


def test_bounds_are_as_they_are_written_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert stretched(30) == 30
    monkeypatch.setenv(VARIABLE, "")
    assert stretched(30) == 30


def test_the_variable_is_a_factor_of_all_bounds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "2.5")
    assert stretched(30) == 75
    assert 74 < deadline_in(30) - time.monotonic() <= 75
    assert Idle(2).patience == 5
    with pytest.raises(CardError, match="not ready after 1 s"):
        CardProcess("sleep", patience=0.4, through=["bash", "-c", "exec sleep 60"])
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as card:
        card.bind(str(tmp_path / "wire"))
        card.listen()
        with Wire(tmp_path / "wire", patience=4) as wire:
            assert wire._patience == 10


@pytest.mark.parametrize("own", [True, False])
def test_a_wait_is_as_long_as_it_says(monkeypatch: pytest.MonkeyPatch, own: bool) -> None:
    monkeypatch.setenv(VARIABLE, "4")
    idle, started = Idle(30 if own else 0.1), time.monotonic()
    with pytest.raises(LinkTimeout, match="waited in vain for nothing"):
        idle.wait(lambda: False, "nothing", 0.1 if own else None)
    assert time.monotonic() - started > 0.4


@pytest.mark.parametrize("text", ["much", "0", "0.5", "-1", "nan", "inf", "1001"])
def test_what_is_no_factor_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(PatienceError, match=f"MERIDIAN_PATIENCE is '{text}', which is not a number from 1 to 1000"):
        stretched(1)


def test_a_thread_that_does_not_end_is_told_of() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait, args=(30,), name="sleeper")
    thread.start()
    with pytest.raises(TimeoutError, match=r"sleeper was told to end and still runs after 0\.1 s"):
        end_of(thread, 0.1)
    over.set()
    end_of(thread)
