# SPDX-License-Identifier: Apache-2.0
"""Transmit offloads of the Linux driver, of a PF and of a VF: frames leave with checksums and tags that Linux left out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from driver_function import Function
from driver_machine import Link, linked, vfs_apart
from meridian_machine import tools
from peer import checksum

pytestmark = pytest.mark.qemu
HERE6, PEER6 = "fd00::2", "fd00::99"
NOBODY = "02:99:00:00:00:99"
TCP, UDP = 6, 17
VID = 7
#: A datagram that is to leave in segments.
SEGMENT, LARGE = 1400, 40 * 1400 + 500
SEND_LARGE = (
    "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
    f"s.setsockopt(socket.IPPROTO_UDP, 103, {SEGMENT}); "  # UDP_SEGMENT
    f"s.sendto(bytes(i * i // 7 % 256 for i in range({LARGE})), ('10.46.0.99', 9))"
)


class Sender(Function):
    """A function, and frames that it sends to somebody who does not answer."""

    def feature(self, name: str) -> str:
        line = next(line for line in self.run("ethtool -k DEV").splitlines() if line.strip().startswith(name + ":"))
        return line.split(":")[1].split()[0]

    def set_up(self, address: str, device: str = "DEV") -> None:
        far = address.rsplit(".", 1)[0] + ".99"
        self.run(f"ip address add {address}/24 dev {device}")
        self.run(f"ip -6 address add {HERE6}/64 dev {device} nodad")
        self.run(f"ip link set {device} up")
        self.guest.until(f"{self.enter}ip link show {device.replace('DEV', self.device)}", "LOWER_UP")
        self.run(f"ip neigh replace {far} lladdr {NOBODY} dev {device}")
        self.run(f"ip -6 neigh replace {PEER6} lladdr {NOBODY} dev {device}")

    def sent(self, command: str, wanted: Callable[[bytes], bool]) -> bytes:
        """The first such frame on the wire after a command in the machine."""
        start = len(self.link.peer.other)
        self.guest.try_run(f"{self.enter}{command}")
        deadline = self.guest.deadline(5)
        while time.monotonic() < deadline:
            for frame in self.link.peer.other[start:]:
                if frame[:6].hex(":") == NOBODY and wanted(frame):
                    return frame
            time.sleep(0.05)
        raise AssertionError(f"{command}: nothing of it on the wire")


@pytest.fixture(scope="module")
def machine() -> Iterator[Link]:
    with linked(tools.SUITES[0]) as it, vfs_apart(it.guest):
        yield it


def sender_of(machine: Link, function: str) -> Sender:
    """The PF or the VF, as its name says, with the address 10.46.0.2 alone."""
    it = Sender(machine, is_vf=function == "VF")
    if not it.is_vf:
        it.run("ip address flush dev DEV")
    it.set_up("10.46.0.2")
    return it


@pytest.fixture(params=["PF", "VF"], scope="module")
def sender(request: pytest.FixtureRequest, machine: Link) -> Sender:
    return sender_of(machine, request.param)


def ip_at(frame: bytes) -> int:
    """Where the packet begins, behind whatever tags."""
    at = 12
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    return at + 2


def segment(frame: bytes) -> tuple[int, bytes, bytes]:
    """Protocol, addresses, and TCP or UDP of a frame."""
    packet = frame[ip_at(frame) :]
    if packet[0] >> 4 == 4:
        head = 4 * (packet[0] & 15)
        return (
            packet[9],
            packet[12:20],
            packet[head : int.from_bytes(packet[2:4], "big")],
        )
    return packet[6], packet[8:40], packet[40 : 40 + int.from_bytes(packet[4:6], "big")]


def is_of(protocol: int, version: int) -> Callable[[bytes], bool]:
    def of(frame: bytes) -> bool:
        at = ip_at(frame)
        found = frame[at + 9] if version == 4 else frame[at + 6]
        return frame[at] >> 4 == version and found == protocol

    return of


def is_good(frame: bytes) -> bool:
    protocol, addresses, content = segment(frame)
    return checksum(addresses + len(content).to_bytes(4, "big") + protocol.to_bytes(4, "big") + content) == 0


CASES = {
    "tcp": (TCP, 4, "nc -w 1 10.46.0.99 9 </dev/null"),
    "udp": (
        UDP,
        4,
        "sh -c 'head -c 900 /dev/zero | tr \"\\0\" x | nc -u -w 1 10.46.0.99 9'",
    ),
    "tcp6": (TCP, 6, f"nc -w 1 {PEER6} 9 </dev/null"),
    "udp6": (
        UDP,
        6,
        f"sh -c 'head -c 901 /dev/zero | tr \"\\0\" y | nc -u -w 1 {PEER6} 9'",
    ),
}


@pytest.mark.parametrize("on", ["on", "off"])
def test_checksums_are_right_whoever_computes_them(sender: Sender, on: str) -> None:
    sender.run(f"ethtool -K DEV tx {on}")
    assert sender.feature("tx-checksum-ip-generic") == on
    for name, (protocol, version, command) in CASES.items():
        frame = sender.sent(command, is_of(protocol, version))
        assert is_good(frame), f"{name}: {frame.hex()}"
    sender.run("ethtool -K DEV tx on")
    assert "card_tx_offload_skipped: 0" in sender.run("ethtool -S DEV")


@pytest.mark.parametrize("on", ["on", "off"])
def test_tags_are_right_whoever_puts_them(sender: Sender, on: str) -> None:
    sender.run(f"ethtool -K DEV tx-vlan-hw-insert {on}")
    assert sender.feature("tx-vlan-offload") == on
    sender.run(f"ip link add link DEV name tagged type vlan id {VID} egress-qos-map 0:5")
    sender.run("ip -6 address flush dev DEV")
    sender.set_up("10.47.0.2", "tagged")
    command = "sh -c 'head -c 500 /dev/zero | tr \"\\0\" z | nc -u -w 1 10.47.0.99 9'"
    frame = sender.sent(command, lambda it: it[12:14] == b"\x81\x00" and is_of(UDP, 4)(it))
    assert int.from_bytes(frame[14:16], "big") == 5 << 13 | VID
    assert is_good(frame)
    assert len(frame) == 18 + 20 + 8 + 500
    sender.run("ip link del tagged")
    sender.run(f"ip -6 address add {HERE6}/64 dev DEV nodad")
    sender.run("ethtool -K DEV tx-vlan-hw-insert on")


STACKS = {
    "service tag": ["802.1ad"],
    "service tag and tag": ["802.1ad", "802.1Q"],
    "two tags": ["802.1Q", "802.1Q"],
}


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("on", ["on", "off"])
def test_checksums_behind_tags_that_the_card_does_not_know_are_right(sender: Sender, stack: str, on: str) -> None:
    sender.run(f"ethtool -K DEV tx-vlan-hw-insert {on}")
    skipped = sender.statistics()["card_tx_offload_skipped"]
    try:
        send_behind_tags(sender, STACKS[stack])
    finally:
        sender.run("ip link del tag0")
        sender.run(f"ip -6 address add {HERE6}/64 dev DEV nodad")
        sender.run("ethtool -K DEV tx-vlan-hw-insert on")
    assert sender.statistics()["card_tx_offload_skipped"] == skipped


def send_behind_tags(sender: Sender, kinds: list[str]) -> None:
    """A datagram by IPv4 and one by IPv6 have right checksums, and these tags, which tag0 and those on it put."""
    below, values = "DEV", {"802.1ad": b"\x88\xa8", "802.1Q": b"\x81\x00"}
    for level, kind in enumerate(kinds):
        sender.run(f"ip link add link {below} name tag{level} type vlan protocol {kind} id {VID + level}")
        sender.run(f"ip link set tag{level} up")
        below = f"tag{level}"
    sender.run("ip -6 address flush dev DEV")
    sender.set_up("10.48.0.2", below)
    for far in ("10.48.0.99", PEER6):
        command = f"sh -c 'head -c 500 /dev/zero | tr \"\\0\" s | nc -u -w 1 {far} 9'"
        frame = sender.sent(command, lambda it: is_of(UDP, 6 if ":" in far else 4)(it) and ip_at(it) > 14)  # noqa: B023
        assert is_good(frame), frame.hex()
        tags = [frame[at : at + 2] for at in range(12, ip_at(frame) - 2, 4)]
        assert tags == [values[kind] for kind in kinds]


def test_large_frames_are_cut_late(sender: Sender) -> None:
    """Software segmentation, which Linux does for devices only that compute checksums and take frames in parts: a large
    frame passes the queueing discipline whole, and segments of it leave."""
    assert sender.feature("generic-segmentation-offload") == "on"
    assert sender.feature("scatter-gather") == "on"
    card_cuts = sender.feature("tx-udp-segmentation") == "on"
    if card_cuts:
        sender.run("ethtool -K DEV tso off tx-udp-segmentation off")
    # The filter counts packets by the length in their IP header, where the segments are still one.
    sender.run("tc qdisc add dev DEV clsact")
    sender.run(f"tc filter add dev DEV egress protocol ip u32 match u16 {28 + LARGE} 0xffff at 2 action pass")
    start = len(sender.link.peer.other)
    try:
        sender.run(f'python3 -c "{SEND_LARGE}"')
        count = -(-LARGE // SEGMENT)
        deadline = sender.guest.deadline(30)
        while len(frames := of_large(sender, start)) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        whole = re.search(r"Sent \d+ bytes (\d+) pkt", sender.run("tc -s filter show dev DEV egress"))
    finally:
        sender.run("tc qdisc del dev DEV clsact")
        if card_cuts:
            sender.run("ethtool -K DEV tso on tx-udp-segmentation on")
    assert all(is_good(frame) for frame in frames)
    assert [len(frame) - 42 for frame in frames] == [SEGMENT] * (LARGE // SEGMENT) + [LARGE % SEGMENT]
    assert b"".join(frame[42:] for frame in frames) == bytes(i * i // 7 % 256 for i in range(LARGE))
    assert whole and int(whole[1]) > 0, "it was cut before the queueing discipline"


def of_large(sender: Sender, start: int) -> list[bytes]:
    """Frames of the wire behind the first so many that are datagrams of this sender to nobody's port 9."""
    ends = bytes.fromhex(NOBODY.replace(":", "")) + sender.address()
    return [
        frame
        for frame in sender.link.peer.other[start:]
        if frame[:12] == ends and is_of(UDP, 4)(frame) and frame[36:38] == bytes([0, 9])
    ]
