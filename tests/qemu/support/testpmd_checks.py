# SPDX-License-Identifier: Apache-2.0
"""What testpmd on a VF is asked for, frame by frame, wherever it runs."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from random import Random

from driver_machine import Link
from meridian_machine.testpmd import MachineTestpmd
from meridian_twin.patience import deadline_in
from packets import checksum

FAR = bytes.fromhex("021111111111")
SIZES = (60, 61, 64, 127, 1500, 1514, 2047, 2048, 2049, 4096, 9600)
LARGE = ("--max-pkt-len=9600", "--enable-scatter", "--tx-offloads=0x8000")  # transmit of several segments


def address(vf: int) -> bytes:
    return bytes.fromhex("02aabbccdd") + bytes([vf])


def text(mac: bytes) -> str:
    return mac.hex(":")


def udp(to: bytes, of: bytes, size: int, number: int, flow: int = 0) -> bytes:
    """A frame of UDP over IPv4 with checksums that are right."""
    length = size - 14
    addresses = b"\x0a" + Random(flow).randbytes(3) + bytes((10, 1, 0, 1))
    head = bytes.fromhex("4500") + length.to_bytes(2, "big") + bytes.fromhex("0000000040110000") + addresses
    head = head[:10] + checksum(head) + head[12:]
    ports = (1000 + flow).to_bytes(2, "big") + (9).to_bytes(2, "big") + (length - 20).to_bytes(2, "big")
    data = Random(number).randbytes(length - 28)
    pseudo = addresses + b"\0\x11" + ports[4:]
    return to + of + b"\x08\0" + head + ports + checksum(pseudo + ports + b"\0\0" + data) + data


def to_vf(vf: int, sizes: Sequence[int] = SIZES) -> list[bytes]:
    """From the VF's address to itself, so that it may send them as they are."""
    return [udp(address(vf), address(vf), size, size) for size in sizes]


def on_wire(link: Link, of: bytes, count: int, seconds: float = 30) -> list[bytes]:
    """Frames that this address sends, taken off; what comes meanwhile stays for the next call."""
    deadline, most = deadline_in(seconds), 0
    while True:
        here = link.peer.other[:]
        frames = [frame for frame in here if frame[6:12] == of]
        if len(frames) >= count:
            link.peer.other[: len(here)] = [frame for frame in here if frame[6:12] != of]
            return frames
        if len(frames) > most:  # it goes on
            deadline, most = deadline_in(seconds), len(frames)
        assert time.monotonic() < deadline, f"{len(frames)} of {count} frames on the wire"
        time.sleep(0.05)


def until_quiet(link: Link, of: bytes, seconds: float = 4) -> list[bytes]:
    """Frames that this address sends, until none has come for so long, taken off."""
    frames: list[bytes] = []
    deadline = deadline_in(seconds)
    while time.monotonic() < deadline:
        more = on_wire(link, of, 0)
        frames += more
        if more:
            deadline = deadline_in(seconds)
        time.sleep(0.05)
    return frames


def send(link: Link, frames: Sequence[bytes]) -> None:
    for frame in frames:
        link.peer.wire.send(frame)


def pieces(size: int) -> str:
    """testpmd's --txpkts for frames of this size."""
    return ",".join(["1600"] * 6) if size == 9600 else str(size)


def check_mac(link: Link, pmd: MachineTestpmd) -> None:
    """Started with LARGE on VF 0: frames of each size, there and back, with the PF at work beside it."""
    pmd.command(f"set eth-peer 0 {text(FAR)}")
    pmd.start("mac")
    frames = to_vf(0)
    send(link, frames)
    link.guest.ping()
    assert on_wire(link, address(0), len(frames)) == [FAR + address(0) + frame[12:] for frame in frames]
    assert pmd.statistics()["RX-packets"] == len(frames)


def check_rxonly(link: Link, pmd: MachineTestpmd) -> None:
    """Started with LARGE on VF 0: it tells of each frame."""
    pmd.command("set verbose 1")
    pmd.start("rxonly")
    before = len(pmd.output())
    send(link, to_vf(0))
    pmd.wait("the frames", lambda: pmd.statistics()["RX-packets"] == len(SIZES))
    told = re.findall(r"src=(\S+) - dst=(\S+) - .*length=(\d+)", pmd.output()[before:])
    assert [int(length) for _, _, length in told] == list(SIZES)
    assert {bytes.fromhex(word.replace(":", "")) for one in told for word in one[:2]} == {address(0)}


def check_txonly(link: Link, pmd: MachineTestpmd, size: int) -> None:
    """Started with these pieces and LARGE on VF 0: all that it counts as sent is on the wire, whole."""
    pmd.start("txonly")
    frames = on_wire(link, address(0), 200)
    pmd.command("stop")
    sent = pmd.statistics()["TX-packets"]
    frames += on_wire(link, address(0), sent - len(frames))
    assert len(frames) == sent
    for frame in frames:
        assert len(frame) == size
        assert checksum(frame[14:34]) == b"\0\0"
