# SPDX-License-Identifier: Apache-2.0
"""testpmd's commands of traffic management on a card with a pool of transmit queues, and what leaves by the wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import Link
from meridian_twin.control import Control
from meridian_twin.protocol import Role
from meridian_twin.registers import Registers
from meridian_twin.wire import Wire, WireFrame
from sessions import write_capture, xstats
from test_twin_attach import MAC, MINE, PEER
from test_twin_pf import pf_of
from test_twin_vf import FIRST, started
from testpmd import Testpmd

__all__ = ["library", "testpmd"]  # fixtures
Start = Callable[..., Testpmd]
POOL = ("--ports", "2", "--egress", "pool")
AFTER_RESET = [0x76543210, 0xFF, 0x01010101, 0x01010101]
SHARED = [0x76543210, 0, 10 << 24 | 30 << 8, 0]
STRICT = [0x76543210, 1 << 1, 10 << 24 | 30 << 8, 0]
ROOT, LIGHT, HEAVY, IDLE = 9999, 1001, 1003, 1007  # behind the port are classes 1, 3 and 7: the numbers modulo 8
PERCENT = 15  # of the line, so that one queue brings more of each class than leaves
FRAMES = 500
LINE_BYTES = 24  # of a frame on the line: preamble, FCS and gap
GIGABIT = 10**9 // 8  # in bytes a second, as rte_tm has rates

pytestmark = pytest.mark.long  # the shell is built for it alone


def tagged(priority: int, size: int) -> bytes:
    return (PEER + MINE + b"\x81\x00" + (priority << 13 | 9).to_bytes(2, "big") + b"\x88\xb5").ljust(size, b"\x5a")


def settings(card: Any, port: int = 0) -> list[int]:
    """As another PF reads them."""
    names = ("CLASSES", "STRICT", "WEIGHTS_0_TO_3", "WEIGHTS_4_TO_7")
    link = Link(card.socket, Role.PCIE_FUNCTION, function=1)
    try:
        return [link.read(1, 2, Registers().address("EGRESS", name, index=port)) for name in names]
    finally:
        link.close()


def rates(card: Any, number: int, port: int = 0) -> list[int]:
    """max_rate, max_burst, min_rate and min_burst, as another PF reads them."""
    link = Link(card.socket, Role.PCIE_FUNCTION, function=1)
    try:
        first = Registers().address("EGRESS", "RATES", index=32 * port + 4 * number)
        return [link.read(1, 2, first + 4 * word) for word in range(4)]
    finally:
        link.close()


def frames_on(pmd: Testpmd, wire: Wire, count: int, priority: int | None = None) -> list[WireFrame]:
    """So many frames, or a few more, and all others among them; priority: so many of this one."""
    frames: list[WireFrame] = []

    def enough() -> bool:
        frames.extend(wire.take())
        return sum(priority in (None, frame.data[14] >> 5) for frame in frames) >= count

    pmd.wait(f"{count} frames on the wire", enough, 120)
    return frames


def on_wire(pmd: Testpmd, wire: Wire, count: int) -> Counter[int]:
    """Bytes of so many frames, or a few more, by priority."""
    seen = Counter[int]()
    for frame in frames_on(pmd, wire, count):
        seen[frame.data[14] >> 5] += len(frame.data)
    return seen


def gigabits(pmd: Testpmd, wire: Wire, priority: int) -> tuple[float, float]:
    """Of a priority on the line and of the others in the same time, when what came first has gone."""
    frames_on(pmd, wire, 200, priority)
    frames = frames_on(pmd, wire, FRAMES, priority)
    mine = [frame for frame in frames if frame.data[14] >> 5 == priority]
    time = (mine[-1].time_ps - mine[0].time_ps) / 1000
    others = [f for f in frames if f.data[14] >> 5 != priority and mine[0].time_ps <= f.time_ps < mine[-1].time_ps]
    of_mine, of_others = (sum(len(f.data) + LINE_BYTES for f in each) * 8 / time for each in (mine[:-1], others))
    print(f"{of_mine:.3f} Gb/s of priority {priority}, {of_others:.3f} of others")
    return of_mine, of_others


def tm(pmd: Testpmd, *commands: str) -> None:
    for command in commands:
        answer = pmd.command(command)
        assert "(error" not in answer and "Bad arguments" not in answer, answer


def node(number: int, priority: int, weight: int, profile: int = -1) -> str:
    return f"add port tm nonleaf node 0 {number} {ROOT} {priority} {weight} 1 {profile} 1 7 0"


def profile(number: int, peak: int, committed: int = 0) -> str:
    return f"add port tm node shaper profile 0 {number} {committed} 0 {peak} 0 {LINE_BYTES} 0"


def test_classes_share_the_wire_by_testpmds_weights_and_the_strict_one_goes_first(
    run_card: Any, testpmd: Start, tmp_path: Path
) -> None:
    """One queue brings both classes, of as many bytes; the card chooses by the priority of each frame."""
    card = run_card("--control", str(tmp_path / "control"), configuration=POOL)
    write_capture(tmp_path / "both.pcap", 16 * [tagged(1, 757), tagged(3, 1514), tagged(1, 757)])
    source = f"net_pcap0,rx_pcap={tmp_path}/both.pcap,infinite_rx=1"
    pmd = testpmd(card, more=f"mac={MAC}", vdevs=[source])
    assert "cap.sched_wfq_weight_max 255" in pmd.command("show port tm cap 0")
    tm(pmd, f"add port tm nonleaf node 0 {ROOT} -1 0 1 0 -1 2 0 0", node(LIGHT, 0, 30), node(HEAVY, 0, 10))
    tm(pmd, "port tm hierarchy commit 0 no")
    assert settings(card) == AFTER_RESET
    with Control(tmp_path / "control") as inside:
        inside.ask("share", port=0, percent=PERCENT)
        pmd.start("io")
        assert settings(card) == SHARED and settings(card, 1) == AFTER_RESET
        on_wire(pmd, card.wires[0], 200)
        seen = on_wire(pmd, card.wires[0], FRAMES)
        print(f"{seen[1] / seen.total():.3f} of the bytes for weight 30 of 40")
        assert seen[1] / seen.total() == pytest.approx(0.75, abs=0.03)
        tm(pmd, node(IDLE, 0, 5))
        assert settings(card) == SHARED
        tm(pmd, "port tm hierarchy commit 0 no")
        assert settings(card) == [*SHARED[:3], 5 << 24], "the port runs"
        for command in ("stop", "port stop 0", f"del port tm node 0 {HEAVY}", f"del port tm node 0 {IDLE}"):
            pmd.command(command)
        tm(pmd, node(HEAVY, 1, 10), "port tm hierarchy commit 0 no")
        assert settings(card) == AFTER_RESET
        pmd.start("io")
        assert settings(card) == STRICT
        on_wire(pmd, card.wires[0], 200)
        seen = on_wire(pmd, card.wires[0], FRAMES)
        print(f"{seen[1] / seen.total():.3f} of the bytes for the strict class")
        assert seen[1] / seen.total() > 0.97
        inside.ask("share", port=0, percent=100)
    counted = xstats(pmd.command("show port xstats 0"))
    assert counted["port_tx_class1_frames"] > FRAMES and counted["port_tx_class3_lost"] > 0
    assert counted["port_tx_class2_frames"] == 0
    assert "Pkts scheduled from node: " in pmd.command(f"show port tm node stats 0 {LIGHT} 0")
    pmd.command("stop")
    pmd.command("port stop 0")
    assert settings(card) == AFTER_RESET
    pmd.command("port reset 0")
    pmd.command("port start 0")
    assert settings(card) == STRICT, "a reset has taken them"
    pmd.quit()
    assert settings(card) == AFTER_RESET


def test_a_class_is_held_to_the_rates_of_its_shaper_while_traffic_flows(
    run_card: Any, testpmd: Start, tmp_path: Path
) -> None:
    """One queue brings both classes, and more of each than leaves. The other class gets what is over."""
    card = run_card("--control", str(tmp_path / "control"), configuration=POOL)
    write_capture(tmp_path / "both.pcap", 16 * [tagged(1, 1514), tagged(3, 1514)])
    pmd = testpmd(card, more=f"mac={MAC}", vdevs=[f"net_pcap0,rx_pcap={tmp_path}/both.pcap,infinite_rx=1"])
    assert "cap.shaper_private_n_max 8" in pmd.command("show port tm cap 0")
    tm(pmd, f"add port tm nonleaf node 0 {ROOT} -1 0 1 0 -1 2 0 0", profile(1, 5 * GIGABIT))
    tm(pmd, node(LIGHT, 0, 1), node(HEAVY, 0, 1, profile=1), "port tm hierarchy commit 0 no")
    assert rates(card, 3) == [0, 0, 0, 0]
    assert "the rate is below the lowest one of the card" in pmd.command(profile(2, 1000))
    assert "a node has this profile" in pmd.command("del port tm node shaper profile 0 1")
    pmd.start("io")
    assert rates(card, 3) == [10240, 256, 0, 0] and rates(card, 3, port=1) == [0, 0, 0, 0]
    mine, others = gigabits(pmd, card.wires[0], 3)
    assert mine == pytest.approx(5, rel=0.02) and others > 5.5
    tm(pmd, profile(2, 2 * GIGABIT), f"set port tm node shaper profile 0 {HEAVY} 2")
    mine, others = gigabits(pmd, card.wires[0], 3)
    assert mine == pytest.approx(2, rel=0.02) and others > 5.5
    for command in ("stop", "port stop 0", f"del port tm node 0 {LIGHT}", f"del port tm node 0 {HEAVY}"):
        pmd.command(command)
    assert rates(card, 3) == [0, 0, 0, 0]
    tm(pmd, profile(3, 2 * GIGABIT, committed=GIGABIT), node(LIGHT, 0, 1), node(HEAVY, 1, 1, profile=3))
    tm(pmd, "port tm hierarchy commit 0 no")
    with Control(tmp_path / "control") as inside:
        inside.ask("share", port=0, percent=PERCENT)
        pmd.start("io")
        assert settings(card)[1] == 1 << 1 and rates(card, 3) == [4096, 256, 2048, 256]
        mine, others = gigabits(pmd, card.wires[0], 3)
        assert mine == pytest.approx(1, rel=0.02) and others > 2, "the class goes before a strict one up to this rate"
        inside.ask("share", port=0, percent=100)
    pmd.quit()
    assert rates(card, 3) == [0, 0, 0, 0]


def test_a_vf_has_no_traffic_manager(run_card: Any, testpmd: Start) -> None:
    card = run_card(configuration=POOL)
    pf_of(testpmd, card)
    vf = started(testpmd, card, FIRST)
    assert "Function not implemented" in vf.command("show port tm cap 0")
    assert "port_tx_class0_frames" not in vf.command("show port xstats 0")
