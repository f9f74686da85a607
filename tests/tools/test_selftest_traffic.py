# SPDX-License-Identifier: Apache-2.0
"""Checks of the self-test program that send frames: what was not sent is not told as tested."""

from __future__ import annotations

import os

import pytest
from fake_system import FakeSystem
from meridian_selftest import counters, frames, traffic
from meridian_selftest.result import Fail, Skip

INTERRUPTS = "26: 10 2 PCI-MSIX 1-edge eth0-0\n27: 0 7 PCI-MSIX 2-edge eth0-1\n"


def test_no_processor_sends_by_a_queue(fake: FakeSystem) -> None:
    """xps_cpus was written by somebody, or the program may not run on the processors that it names."""
    fake.card()
    (fake.root / "proc/interrupts").write_text(INTERRUPTS)
    queue = fake.root / "sys/class/net/eth0/queues/tx-0"
    queue.mkdir(parents=True)
    (queue / "xps_cpus").write_text("0\n")
    with pytest.raises(Skip, match="no processor that this program may use sends by a queue of eth0"):
        traffic._interrupts_of(fake.context(), "eth0")


def test_without_a_processor_of_a_queue_it_stays_where_it_may_run(fake: FakeSystem) -> None:
    before = os.sched_getaffinity(0)
    with frames.by_first_queue("eth0"):
        assert os.sched_getaffinity(0) == before
    queue = fake.root / "sys/class/net/eth0/queues/tx-0"
    queue.mkdir(parents=True)
    (queue / "xps_cpus").write_text(f"{1 << max(before):x}\n")
    with frames.by_first_queue("eth0"):
        assert os.sched_getaffinity(0) == {max(before)}
    assert os.sched_getaffinity(0) == before


class Socket:
    """takes, ends: whether Linux takes a frame, and whether the card is done with it."""

    def __init__(self, takes: bool, ends: bool) -> None:
        self._takes, self._ends = takes, ends

    def send(self, number: int) -> bool:
        return self._takes

    def sent(self, seconds: float) -> bool:
        return self._ends

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("takes", "ends", "said"),
    [
        (False, True, "Linux takes no frame for eth0"),
        (True, False, r"frame 1 of 7 of eth0 is not done after 1 s"),
    ],
)
def test_frames_that_are_not_sent_are_not_counted_as_sent(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, takes: bool, ends: bool, said: str
) -> None:
    fake.card()
    monkeypatch.setattr(frames, "Frames", lambda *_: Socket(takes, ends))
    with pytest.raises(Fail, match=said):
        counters._send(fake.context(), "eth0", 7)
