# SPDX-License-Identifier: Apache-2.0
"""Checks of the self-test program that send frames: what was not sent is not told as tested."""

from __future__ import annotations

import os

from fake_system import FakeSystem
from meridian_selftest import frames


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
