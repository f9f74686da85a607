# SPDX-License-Identifier: Apache-2.0
"""Every frame that goes in comes out, or a counter says why not: at the MAC, at the port, at each function, in memory.

The frames come from the card's own tester at line rate, more than the machines around the card fetch.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from meridian_twin import CardProcess, Host, Ps, QueueSetting
from meridian_twin.control import Control
from meridian_twin.driver import Queues
from meridian_twin.patience import deadline_in
from test_random_abuse import seed_of

ARM = bytes.fromhex("02000000010f")
BROADCAST = "ff:ff:ff:ff:ff:ff"
GROUP = "01:00:5e:01:02:03"
FCS = 4
#: What each function is for. Addresses from 8 on are nobody's.
FETCHED, SLOW, FULL, WITHOUT_QUEUES, VF, BAD_QUEUE = range(6)
LISTENERS = (FETCHED, SLOW, VF)  # of broadcasts
ADDRESSES = 12
PS_LIMIT = (12, 32)
SMALL = QueueSetting(ring=129, completions=257, buffer=2048)
LARGE = QueueSetting(ring=4097, completions=8193, buffer=2048)
#: Share of the line and of the frames of each kind, so that all come to their ends together.
KINDS = {
    f"size=64-160,rate=80%,flows=480,dmac=02:00:00:00:01:00,dmacs={ADDRESSES + 4}": 0.965,
    f"size=64-600,rate=5%,flows=16,dmac={BROADCAST},id=1": 0.0233,
    f"size=64-600,rate=2%,dmac={GROUP},id=2": 0.0093,
    "size=9620-10000,rate=5%,dmac=02:00:00:00:01:00,id=3": 0.0008,
}


def mac(function: int) -> bytes:
    return bytes([2, 0, 0, 0, 1, function])


def address(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def total(counts: list[Counter[str]], prefix: str) -> int:
    """Of all verdicts of a direction."""
    apart = {"rx_bytes", "tx_bytes", "rx_copies"}
    return sum(
        value for count in counts for name, value in count.items() if name.startswith(prefix) and name not in apart
    )


class World:
    """A card under load, and what its machines have seen of it."""

    STEP_PS = 100_000_000  # what is to be fetched fits into the rings meanwhile

    def __init__(self, card: CardProcess, control: Control, frames: int, seed: int) -> None:
        self.control, self.frames, self.random = control, frames, Random(seed)
        self.host = Host.connect(card.socket, lockstep=True, memory=128 << 20)
        self.ps = Ps.connect(card.socket)
        self.got: Counter[int] = Counter()  # frames by function
        self.bytes: Counter[int] = Counter()
        self.broadcasts: Counter[int] = Counter()
        self.of_ps: Counter[bytes] = Counter()  # by destination
        self.posted = 0

    def start(self) -> None:
        host = self.host
        self.ps.start(0, ARM)
        self.ps.card.set_ps_limit(0, PS_LIMIT, PS_LIMIT)
        for function in range(host.card.geometry.functions):
            host.card.set_flags(function, function in LISTENERS, function == FETCHED, False, False)
        host.bring_up(4, setting=LARGE)
        for function in (SLOW, FULL, VF, BAD_QUEUE):
            host.bring_up_vf(function, 2, 4 + 4 * function, SMALL)
        host.card.set_indirection(BAD_QUEUE, [k % 3 for k in range(128)])  # of two queues
        for function in range(6):
            host.add_mac(mac(function), function)
        host.settle()
        self.control.ask("fcs", direction="rx", probability=0.01)

    def fetch(self, function: int) -> None:
        frames = self.host.functions[function].take()
        self.got[function] += len(frames)
        self.bytes[function] += sum(map(len, frames))
        self.broadcasts[function] += sum(frame[:6] == address(BROADCAST) for frame in frames)
        strangers = [frame[:6].hex(":") for frame in frames if frame[:6] not in (mac(function), address(BROADCAST))]
        assert function == FETCHED or not strangers, f"function {function} has frames for {strangers[:3]}"

    def fetch_of_ps(self) -> None:
        self.of_ps.update(frame.data[:6] for frame in self.ps.ports[0].poll())

    def send(self, queues: Queues, function: int) -> None:
        """Some that may be sent, and some that are spoofed or too long."""
        pair = self.random.choice(queues.pairs)
        for _ in range(min(8, pair.h2c.room())):
            source = mac(function) if self.random.random() < 0.8 else bytes(6)
            size = self.random.choice((60, 60, 100, 1514, 9700))
            pair.h2c.post((mac(9) + source + b"\x88\xb5").ljust(size, b"\x5a"))
            self.posted += 1
        pair.h2c.ring()

    def look(self, turn: int) -> None:
        self.host.link.advance(self.STEP_PS)
        for function in (FETCHED, VF):
            self.fetch(function)
        self.fetch_of_ps()
        self.send(self.host, FETCHED)
        self.send(self.host.functions[VF], VF)
        if turn % 16 == 0:
            self.fetch(SLOW)

    def run(self, seconds: float) -> None:
        deadline, turn = deadline_in(seconds), 0
        while self.control.ask("stats")["ports"][0]["rx"]["frames"] < self.frames:
            assert time.monotonic() < deadline, f"not done in {seconds:.0f} s"
            for _ in range(16):
                self.look(turn)
                turn += 1
        for function in (FETCHED, VF):
            self.host.functions[function].drain()
        self.host.settle()
        # Nothing comes any more; what is in buffers needs no more than a few looks.
        for _ in range(200):
            before = self.got.total() + self.of_ps.total()
            self.host.link.advance(self.STEP_PS)
            for function in (FETCHED, SLOW, FULL, VF, BAD_QUEUE):
                self.fetch(function)
            self.fetch_of_ps()
            if self.got.total() + self.of_ps.total() == before:
                break

    def check(self) -> None:
        card = self.host.card
        mac_counts = self.control.ask("stats")["ports"][0]
        port = card.counters("PORT_COUNTERS")
        functions = [Counter(card.counters("FUNCTION", f)) for f in range(card.geometry.functions)]
        nobody = Counter(card.counters("HOST_PORT_COUNTERS"))
        verdicts = [*functions, nobody]

        # The wire and the port.
        assert port["rx_frames"] == mac_counts["rx"]["frames"] == self.frames
        assert port["rx_bad_fcs"] == mac_counts["rx"]["bad"] > 0
        good = port["rx_good_frames"]
        assert good + port["rx_bad_fcs"] + port["rx_runt"] + port["rx_oversize"] == self.frames
        assert port["rx_oversize"] > 0
        sizes = sum(value for name, value in port.items() if name.startswith("rx_size_"))
        assert sizes + port["rx_small"] + port["rx_large"] == self.frames
        several = port["rx_multicast"] + port["rx_broadcast"]
        assert port["rx_unicast"] + several == good

        # Good frames go to the host, to the PS, or to both when they are for several; or a buffer was full.
        to_host = port["rx_to_host"] + port["rx_host_overflow"]
        assert port["rx_ps_policed"] > 0
        to_ps = sum(port[f"rx_{name}"] for name in ("to_ps", "ps_overflow", "ps_policed", "ps_ptp_policed"))
        assert to_host + to_ps == port["rx_unicast"] + 2 * several
        assert port["rx_nowhere"] == 0
        # The tester's unicast goes to each address in turn, the ARM's among them; bad frames are drawn at random.
        for_arm = port["rx_unicast"] / (ADDRESSES + 4)
        assert abs(to_ps - several - for_arm) < 0.02 * for_arm
        assert self.of_ps.total() == port["rx_to_ps"]
        assert set(self.of_ps) == {ARM, address(BROADCAST), address(GROUP)}

        # Each frame of the host has one verdict, and one more for each copy.
        assert total(verdicts, "rx_") == port["rx_to_host"] + len(LISTENERS) * nobody["rx_copying"]
        copied = nobody["rx_copying"]
        assert 0 < copied <= copied + nobody["rx_copy_cut"] <= port["rx_broadcast"]
        for function in LISTENERS:
            missing = copied - self.broadcasts[function]
            assert 0 <= missing <= functions[function]["rx_queue_full"] + functions[function]["rx_copy_cut"]
        assert nobody["rx_no_match"] > 0
        assert functions[FULL]["rx_queue_full"] > 0
        assert functions[WITHOUT_QUEUES]["rx_disabled"] > 0
        assert functions[BAD_QUEUE]["rx_bad_queue"] > 0
        for function in range(card.geometry.functions):
            assert self.got[function] == functions[function]["rx_delivered"], f"function {function}"
            assert self.bytes[function] == functions[function]["rx_bytes"], f"function {function}"
        events = card.events()
        assert (events["c2h_drop"], events["c2h_error"]) == (0, 0)

        # The other way.
        assert total(verdicts, "tx_") == self.posted
        sent = sum(count["tx_sent"] for count in verdicts)
        assert port["tx_frames"] == port["tx_from_host"] == sent == mac_counts["tx"]["frames"]
        assert min(functions[VF]["tx_spoof"], functions[VF]["tx_oversize"]) > 0
        assert port["tx_bytes"] == sum(count["tx_bytes"] for count in verdicts) + FCS * sent


def conserve(program: Path, folder: Path, frames: int, seconds: float) -> None:
    """In lockstep, so that a seed gives the same run wherever it runs."""
    seed = seed_of("conservation")
    counts = [max(1, int(share * frames)) for share in KINDS.values()]
    ends = [f"traffic:{kind},count={count},start=2ms" for kind, count in zip(KINDS, counts, strict=True)]
    options = ("--time", "lockstep", "--seed", str(seed), "--wire", "0=" + "+".join(ends))
    path = folder / "control"
    with CardProcess(program, "--control", str(path), *options) as card, Control(path) as control:
        world = World(card, control, sum(counts), seed)
        try:
            world.start()
            assert control.ask("stats")["ports"][0]["rx"]["frames"] == 0
            world.run(seconds)
            world.check()
        finally:
            world.host.close()
            world.ps.close()


def test_fifty_thousand_frames_come_out_or_are_counted(built_card: Any, tmp_path: Path) -> None:
    conserve(built_card(), tmp_path, 50_000, 120)


@pytest.mark.long
def test_ten_million_frames_come_out_or_are_counted(built_card: Any, tmp_path: Path) -> None:
    conserve(built_card(), tmp_path, 10_000_000, 7200)
