# SPDX-License-Identifier: Apache-2.0
"""Checks of the self-test program that send frames: what was not sent is not told as tested."""

from __future__ import annotations

import os

import pytest
from fake_system import FakeSystem
from meridian_selftest import context as context_module
from meridian_selftest import counters, ethtool, frames, traffic, vf
from meridian_selftest.card import Function
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
        traffic.vectors(fake.context(), "eth0")


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

    refusal = "No buffer space available"

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


def two_pfs(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """eth0 and eth1, both up and with a link."""
    fake.card()
    fake.card("0000:3b:00.1", "0x913f")
    monkeypatch.setattr(Function, "interface", property(lambda pf: f"eth{pf.address[-1]}"))
    monkeypatch.setattr(ethtool, "is_up", lambda _: True)
    monkeypatch.setattr(context_module, "has_carrier", lambda _: True)


def test_a_frame_that_linux_does_not_take_is_no_missing_interrupt(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor one that the card is not done with."""
    two_pfs(fake, monkeypatch)
    (fake.root / "proc/interrupts").write_text(INTERRUPTS)
    queue = fake.root / "sys/class/net/eth0/queues/tx-0"
    queue.mkdir(parents=True)
    (queue / "xps_cpus").write_text(f"{1 << max(os.sched_getaffinity(0)):x}\n")
    monkeypatch.setattr(frames, "Frames", lambda *_: Socket(False, True))
    context = fake.context(slow=0.05)
    with pytest.raises(Fail, match=r"Linux takes no frame by queue 0 of eth0 \(No buffer space available\)"):
        traffic.vectors(context, "eth0")
    with pytest.raises(Fail, match=r"Linux takes no frame of eth0 \(No buffer space available\)"):
        traffic.latency(context)


def test_a_queue_that_is_full_for_a_moment_does_not_fail(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    two_pfs(fake, monkeypatch)
    taken = iter([False, False, *100 * [True]])
    monkeypatch.setattr(Socket, "send", lambda *_: next(taken))
    monkeypatch.setattr(frames, "Frames", lambda *_: Socket(True, True))
    assert "eth0" in traffic.latency(fake.context(quick=True))


def test_each_interface_is_tested(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says which was not."""
    two_pfs(fake, monkeypatch)
    monkeypatch.setattr(frames, "Frames", lambda *_: Socket(True, True))
    said = traffic.latency(fake.context(quick=True))
    assert said.count("from send() to completion") == 2 and "eth1 " in said, said
    monkeypatch.setattr(context_module, "has_carrier", lambda name: name == "eth0")
    (fake.root / "sys/class/net/eth1").mkdir()
    said = traffic.latency(fake.context(quick=True))
    assert said.count("from send() to completion") == 1 and "not tested: eth1 has no link" in said, said


def test_a_vf_of_each_pf_is_reset(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    two_pfs(fake, monkeypatch)
    context = fake.context()
    for pf, (total, vfs) in zip(context.host.pfs, [(4, 0), (4, 1)], strict=True):
        (pf.path / "sriov_totalvfs").write_text(f"{total}\n")
        (pf.path / "sriov_numvfs").write_text(f"{vfs}\n")
    monkeypatch.setattr(vf, "_with_a_vf", lambda _, pf: f"VF 0 of {pf.interface} was back")
    assert vf.reset_under_load(context).startswith("VF 0 of eth0 was back; not tested: there are VFs of eth1, ")
    (context.host.pfs[1].path / "sriov_numvfs").write_text("0\n")
    assert vf.reset_under_load(context) == "VF 0 of eth0 was back; VF 0 of eth1 was back"


@pytest.mark.parametrize(("name", "passes"), [("rx_pp_alloc_fast", True), ("card_tx_sent", False)])
def test_only_counters_that_are_added_up_must_not_go_back(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, name: str, passes: bool
) -> None:
    """Those of page pools do when somebody sets the rings."""
    fake.card()
    sums = [counters.Sum("frames", ("eth0:port_rx_frames",), ("eth0:card_tx_sent",))]
    start = {"eth0:port_rx_frames": 9, "eth0:card_tx_sent": 9, "eth0:rx_pp_alloc_fast": 9}
    end = {**start, f"eth0:{name}": 3}
    readings = iter([counters.Reading(start, start), counters.Reading(end, end)])
    monkeypatch.setattr(counters, "reading", lambda _: next(readings))
    monkeypatch.setattr(counters, "_sums", lambda *_: (sums, ""))
    monkeypatch.setattr(counters, "has_carrier", lambda _: True)
    monkeypatch.setattr(frames, "Frames", lambda *_: Socket(True, True))
    monkeypatch.setattr(Function, "interface", property(lambda _: "eth0"))
    if passes:
        assert "50 frames sent, 0 came" in counters.add_up(fake.context(quick=True))
    else:
        with pytest.raises(Fail, match="counters went back: eth0:card_tx_sent"):
            counters.add_up(fake.context(quick=True))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (3, 4, ""),
        (0, 9, ""),
        (3, 3, r"no interrupt comes for messages of VF 0 to eth0 \(0000:3b:00.0\)"),
        (3, None, r"no interrupt comes for messages of VF 0 to eth0"),
        (None, None, "Linux has no interrupt of 0000:3b:00.0 for messages of VFs"),
    ],
)
def test_messages_of_a_vf_interrupt(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, before: int | None, after: int | None, said: str
) -> None:
    two_pfs(fake, monkeypatch)
    context = fake.context(slow=0.01)
    monkeypatch.setattr(traffic, "of_messages", lambda _: after)
    if said:
        with pytest.raises(Fail, match=said):
            vf._messages(context, context.host.pfs[0], before)
    else:
        assert vf._messages(context, context.host.pfs[0], before) == "its messages interrupted"


@pytest.mark.parametrize(
    ("files", "said"),
    [(False, "vectors not tested: no processor that this program may use"), (True, "vectors that fired: eth0 1 of 2")],
)
def test_each_vector_of_a_vf_is_tried(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, files: bool, said: str
) -> None:
    two_pfs(fake, monkeypatch)
    (fake.root / "proc/interrupts").write_text(INTERRUPTS)
    if files:
        (fake.root / "sys/class/net/eth0/queues/tx-0").mkdir(parents=True)
        xps = fake.root / "sys/class/net/eth0/queues/tx-0/xps_cpus"
        xps.write_text(f"{1 << max(os.sched_getaffinity(0)):x}\n")
    monkeypatch.setattr(traffic, "_fires", lambda *_: True)
    context = fake.context()
    assert vf._vectors(context, context.host.pfs[0]).startswith(said)
    if files:
        monkeypatch.setattr(traffic, "_fires", lambda *_: False)
        with pytest.raises(Fail, match=r"no interrupt comes for queue\(s\) 0 of eth0"):
            vf._vectors(context, context.host.pfs[0])


def test_a_vf_that_another_driver_takes_is_skipped(fake: FakeSystem) -> None:
    """As vfio-pci does whose parameter ids names VFs."""
    card = fake.card()
    place = fake.device("0000:3b:00.4", fake.port, vendor="0x10ee", device="0xa03f")
    (card / "virtfn0").symlink_to(place)
    (fake.root / "vfio-pci").mkdir()
    (place / "driver").symlink_to(fake.root / "vfio-pci")
    context = fake.context(slow=0.01)
    with pytest.raises(Skip, match="vfio-pci takes VF 0 of 0000:3b:00.0 before meridian does"):
        vf._new_vf(context, context.host.pfs[0])


@pytest.mark.parametrize(("verdicts", "said"), [(1500, ""), (1400, "100 frames of eth0 vanished")])
def test_a_loss_is_not_hidden_by_what_others_send(
    fake: FakeSystem, monkeypatch: pytest.MonkeyPatch, verdicts: int, said: str
) -> None:
    """1000 frames of the program, and 500 of others."""
    names = {name for one in counters.of_interface("eth0") for name in one.names()}
    start = dict.fromkeys(names, 0)
    end = start | {"eth0:tx_packets": 1500, "eth0:card_tx_sent": verdicts}
    monkeypatch.setattr(counters, "reading", lambda _: counters.Reading(end, end))
    monkeypatch.setattr(counters, "PAUSE_SECONDS", 0)
    assert vf._told_losses("eth0", counters.Reading(start, start), 1000) == said
    end["eth0:card_tx_veb_full"] = 1
    assert "card_tx_veb_full 1" in vf._told_losses("eth0", counters.Reading(start, start), 1000)
