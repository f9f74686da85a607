# SPDX-License-Identifier: Apache-2.0
"""Receive offloads of the Linux driver, of a PF and of a VF: what the card says of a frame arrives in Linux."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from driver_function import Function
from driver_machine import Link, linked, tool, vfs_apart
from meridian_golden.rss import DEFAULT_KEY, rss_hash
from meridian_machine import tools
from meridian_machine.guest import HERE, PEER
from peer import IPV4, ethernet, ipv4
from peer_packets import BODY, IPV6, TCP, UDP, packet, segment

pytestmark = pytest.mark.qemu
HASHES = "microsoft-hash"


def spoiled(frame: bytes, at: int) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 0x55]) + frame[at + 1 :]


@dataclass(frozen=True)
class Told:
    """What Linux knows of a frame before it looks into it."""

    hash: int
    good: bool
    tci: int | None
    length: int


class Receiver(Function):
    """A function, and frames for it with what Linux is told of them."""

    def frame(self, content: bytes, vid: int | None = None) -> bytes:
        kind = IPV6 if content[0] >> 4 == 6 else IPV4
        frame = ethernet(self.address(), self.link.peer.mac, kind, content)
        return frame if vid is None else frame[:12] + b"\x81\x00" + vid.to_bytes(2, "big") + frame[12:]

    def told(self, *frames: bytes) -> list[Told]:
        """What Linux is told of each frame, sent one after the other."""
        self.guest.run(f"{self.enter}/run/twin/frame_tool {self.device} {len(frames)} >/tmp/told 2>&1 &")
        self.guest.until("cat /tmp/told", "ready")
        for number, frame in enumerate(frames):
            self.link.peer.wire.send(frame[:7] + bytes([number]) + frame[8:])
        text = self.guest.until("cat /tmp/told", "done")
        found = re.findall(r"number=(\d+) hash=(\w+) good=(\d) tci=(-?\d+) length=(\d+)", text)
        assert [int(one[0]) for one in sorted(found, key=lambda one: int(one[0]))] == list(range(len(frames))), text
        return [
            Told(int(hash, 16), good == "1", None if tci == "-1" else int(tci), int(length))
            for _, hash, good, tci, length in sorted(found, key=lambda one: int(one[0]))
        ]

    def key(self) -> tuple[int, ...]:
        """Words of the hash key."""
        text = re.search(r"RSS hash key:\n(\S+)", self.run("ethtool -x DEV"))
        assert text
        return struct.unpack("<10I", bytes.fromhex(text[1].replace(":", "")))

    def set_key(self, words: tuple[int, ...]) -> None:
        self.run(f"ethtool -X DEV hkey {struct.pack('<10I', *words).hex(':')}")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    program = tool(tmp_path_factory.mktemp("frames"), Path(__file__).with_name("frame_tool.c"))
    with linked(tools.SUITES[0], {"frame_tool": program}) as link, vfs_apart(link.guest):
        vf = Function(link, is_vf=True)
        vf.run("ip address add 10.44.0.9/24 dev DEV")
        vf.run("ip link set DEV up")
        link.guest.until(f"{vf.enter}cat /sys/class/net/{vf.device}/carrier", "^1")
        yield link


@pytest.fixture(params=["pf", "vf"])
def function(machine: Link, request: pytest.FixtureRequest) -> Iterator[Receiver]:
    function = Receiver(machine, is_vf=request.param == "vf")
    function.run("ethtool -K DEV gro off")  # GRO judges checksums, too
    yield function
    function.run("ethtool -K DEV rx on rxhash on rxvlan on gro on")
    function.run(f"ethtool --set-priv-flags DEV {HASHES} on")
    function.run("ethtool -X DEV default")
    machine.guest.check()


def test_offloads_are_on_and_can_be_changed(function: Receiver) -> None:
    text = function.run("ethtool -k DEV")
    for name in ("rx-checksumming", "receive-hashing", "rx-vlan-offload"):
        assert re.search(rf"^{name}: on$", text, re.MULTILINE), text


def test_the_hash_begins_with_the_kernels_key_and_spreads_ipv6(function: Receiver) -> None:
    """The key that every driver of the machine begins with, and the order that hashes all of IP."""
    kernels = function.guest.run("cat /proc/sys/net/core/netdev_rss_key").strip().split(":")[:40]
    assert struct.pack("<10I", *function.key()).hex(":").split(":") == kernels
    assert re.search(rf"{HASHES}\s*: on", function.run("ethtool --show-priv-flags DEV"))
    frames = [function.frame(packet(UDP, 6, 2000 + flow)) for flow in range(32)]
    assert [one.hash for one in function.told(*frames)] == [rss_hash(frame, function.key(), True) for frame in frames]
    assert len({rss_hash(frame, function.key(), True) & 1 for frame in frames}) == 2


def test_checksums_are_judged_by_the_card(function: Receiver) -> None:
    good = [function.frame(packet(protocol, version)) for version in (4, 6) for protocol in (UDP, TCP)]
    without = function.frame(ipv4(PEER, HERE, UDP, struct.pack("!HHHH", 1000, 9, 8 + len(BODY), 0) + BODY))
    other = function.frame(ipv4(PEER, HERE, 99, BODY))
    bad = [spoiled(frame, 100) for frame in good]  # a byte of the payload
    bad_ip = spoiled(good[0], 14 + 8)  # time to live: the IPv4 header's own checksum
    before = function.statistics()
    told = function.told(*good, without, other, *bad, bad_ip)
    assert [one.good for one in told] == [True] * 4 + [False] * 7
    after = function.statistics()
    assert after["rx_checksum_bad"] - before["rx_checksum_bad"] == 5
    assert after["rx_checksum_good"] - before["rx_checksum_good"] >= 4

    function.run("ethtool -K DEV rx off")
    assert [one.good for one in function.told(*good, *bad)] == [False] * 8
    assert function.statistics()["rx_checksum_bad"] == after["rx_checksum_bad"]
    function.run("ethtool -K DEV rx on")
    assert function.told(good[0])[0].good


def test_a_bad_datagram_is_left_for_the_stack_to_count(function: Receiver) -> None:
    """It goes up, and no further."""
    own = "10.44.0.9" if function.is_vf else HERE
    content = ipv4(PEER, own, UDP, segment(UDP, PEER, own))
    names = function.run("grep ^Udp: /proc/net/snmp").splitlines()[0].split()
    column = names.index("InCsumErrors")

    def errors() -> int:
        return int(function.run("grep ^Udp: /proc/net/snmp").splitlines()[1].split()[column])

    function.guest.run(f"{function.enter}nc -u -l {own} 9 >/dev/null & echo $! >/tmp/nc")
    function.guest.until(f"{function.enter}grep -c ':0009 ' /proc/net/udp", "^1")
    before = errors()
    function.told(spoiled(function.frame(content), 100), function.frame(content))
    assert errors() == before + 1
    function.guest.try_run("kill $(cat /tmp/nc)")


@pytest.mark.parametrize("microsoft", [False, True])
def test_the_hash_is_the_cards_in_either_order(function: Receiver, microsoft: bool) -> None:
    function.run(f"ethtool --set-priv-flags DEV {HASHES} {'on' if microsoft else 'off'}")
    assert re.search(rf"{HASHES}\s*: {'on' if microsoft else 'off'}", function.run("ethtool --show-priv-flags DEV"))
    frames = [function.frame(packet(protocol, version)) for version in (4, 6) for protocol in (UDP, TCP)]
    frames.append(function.frame(ipv4(PEER, HERE, 99, BODY)))
    key = function.key()
    expected = [rss_hash(frame, key, microsoft) for frame in frames]
    if not microsoft:  # what is not IPv4 has none
        expected[2:4] = [0, 0]
    assert [one.hash for one in function.told(*frames)] == expected

    # Words that take part change it.
    last = 9 if microsoft else 4
    changed = (*key[:last], key[last] ^ 0xFFFFFFFF, *key[last + 1 :])
    function.set_key(changed)
    assert [one.hash for one in function.told(*frames[:4])] != expected[:4]
    assert [one.hash for one in function.told(*frames)][-1] == rss_hash(frames[-1], changed, microsoft)
    if not microsoft:
        function.set_key((*key[:5], *(word ^ 0xFFFFFFFF for word in key[5:])))
        assert [one.hash for one in function.told(*frames)] == expected
    function.set_key(key)

    function.run("ethtool -K DEV rxhash off")
    assert [one.hash for one in function.told(*frames)] == [0] * len(frames)


@pytest.mark.parametrize(
    ("setting", "order"),
    [
        ("-X DEV xfrm symmetric-xor", 3),
        ("-N DEV rx-flow-hash udp4 sd", 0xC00001),
        ("-N DEV rx-flow-hash udp4 df", 0x900001),
    ],
)
def test_ethtool_chooses_what_is_hashed(function: Receiver, setting: str, order: int) -> None:
    function.run(f"ethtool --set-priv-flags DEV {HASHES} on")
    frames = [function.frame(packet(protocol, version)) for version in (4, 6) for protocol in (UDP, TCP)]
    key = function.key()
    plain = [rss_hash(frame, key, 1) for frame in frames]
    assert [one.hash for one in function.told(*frames)] == plain
    function.run(f"ethtool {setting}")
    assert [one.hash for one in function.told(*frames)] == [rss_hash(frame, key, order) for frame in frames] != plain
    fields = function.run("ethtool -n DEV rx-flow-hash udp4")
    assert ("L4 bytes 2 & 3" in fields) == (order == 3)
    assert "L4 bytes" in function.run("ethtool -n DEV rx-flow-hash tcp4")
    assert ("symmetric-xor: on" in function.run("ethtool -x DEV")) == (order == 3)
    # What takes IPv6 and ports away takes both.
    function.run(f"ethtool --set-priv-flags DEV {HASHES} off")
    function.run(f"ethtool --set-priv-flags DEV {HASHES} on")
    assert [one.hash for one in function.told(*frames)] == plain


@pytest.mark.parametrize("what", ["-N DEV rx-flow-hash udp4 sdt", "-N DEV rx-flow-hash ah4 s"])
def test_what_the_card_does_not_hash_is_refused(function: Receiver, what: str) -> None:
    function.run(f"ethtool --set-priv-flags DEV {HASHES} on")
    command = f"{function.enter}ethtool {what.replace('DEV', function.device)}"
    assert function.guest.try_run(command)[0] != 0
    function.run(f"ethtool --set-priv-flags DEV {HASHES} off")
    command = f"{function.enter}ethtool -X {function.device} xfrm symmetric-xor"
    assert function.guest.try_run(command)[0] != 0
    function.run(f"ethtool --set-priv-flags DEV {HASHES} on")


@pytest.mark.parametrize("microsoft", [False, True])
def test_the_hash_chooses_the_queue(function: Receiver, microsoft: bool) -> None:
    function.run(f"ethtool --set-priv-flags DEV {HASHES} {'on' if microsoft else 'off'}")
    key = DEFAULT_KEY
    function.set_key(key)
    frames = [function.frame(packet(UDP, 4, 2000 + flow)) for flow in range(32)]
    if microsoft:
        frames += [function.frame(packet(UDP, 6, 2000 + flow)) for flow in range(32)]
    second = sum(rss_hash(frame, key, microsoft) & 1 for frame in frames)  # the table alternates
    assert 8 <= second <= len(frames) - 8, "the key is no good one"
    before = function.statistics()
    function.told(*frames)
    after = function.statistics()
    counts = [after[name] - before[name] for name in ("rx0_packets", "rx1_packets")]
    assert 0 <= counts[0] - (len(frames) - second) <= 3, "few others may be on the wire"
    assert 0 <= counts[1] - second <= 3


def test_a_service_tag_is_no_vlan_of_the_card(function: Receiver) -> None:
    """It stays in the frame, in which the card sees no IP; nothing else is offered."""
    features = function.run("ethtool -k DEV")
    for name in ("rx-vlan-stag-hw-parse", "rx-vlan-stag-filter", "tx-vlan-stag-hw-insert"):
        assert re.search(rf"^{name}: off \[fixed\]$", features, re.MULTILINE), name
    frame = function.frame(packet(UDP))
    before = function.statistics()
    plain, tagged = function.told(frame, frame[:12] + b"\x88\xa8\x00\x07" + frame[12:])
    assert plain.good and plain.hash == rss_hash(frame, function.key(), True) and plain.tci is None
    assert not tagged.good and tagged.hash == 0 and tagged.tci == 7, "Linux has taken the tag out itself"
    after = function.statistics()
    assert after["rx_checksum_bad"] == before["rx_checksum_bad"], "no verdict is no bad one"


#: What ethtool prints of what is hashed, and its letter for it.
PARTS = {
    "IP SA": "s",
    "IP DA": "d",
    "L4 bytes 0 & 1 [TCP/UDP src port]": "f",
    "L4 bytes 2 & 3 [TCP/UDP dst port]": "n",
    "L3 proto": "t",
    "VLAN tag": "v",
}


def fields(function: Receiver, flow: str) -> str:
    lines = function.run(f"ethtool -n DEV rx-flow-hash {flow}").splitlines()[1:]
    return "".join(letter for part, letter in PARTS.items() if part in lines)


def test_ethtool_tells_which_fields_are_hashed(function: Receiver) -> None:
    for flow in ("tcp4", "udp4", "tcp6", "udp6"):
        assert fields(function, flow) == "sdfn", flow
    for flow in ("sctp4", "ah4", "esp4", "sctp6", "ah6", "esp6"):
        assert fields(function, flow) == "sd", flow
    function.run(f"ethtool --set-priv-flags DEV {HASHES} off")
    for flow in ("tcp4", "udp4", "sctp4", "esp4"):
        assert fields(function, flow) == "sdfntv", flow
    for flow in ("tcp6", "udp6", "sctp6", "esp6"):
        assert fields(function, flow) == "v", flow


def test_the_flag_survives_down_and_up(function: Receiver) -> None:
    function.run(f"ethtool --set-priv-flags DEV {HASHES} off")
    function.run("ip link set DEV down")
    function.run("ip link set DEV up")
    assert re.search(rf"{HASHES}\s*: off", function.run("ethtool --show-priv-flags DEV"))
    function.run(f"ethtool --set-priv-flags DEV {HASHES} on")
    function.run("ip link set DEV down")
    function.run("ip link set DEV up")
    function.guest.until(f"{function.enter}cat /sys/class/net/{function.device}/carrier", "^1")
    frame = function.frame(packet(UDP, 6))
    assert function.told(frame)[0].hash == rss_hash(frame, function.key(), True)


def test_tags_are_taken_out_and_told(function: Receiver) -> None:
    function.run("ip link add link DEV name tagged type vlan id 100")
    function.run("ip link set tagged up")
    tci = 0x6000 | 100
    frames = [function.frame(packet(UDP), tci), function.frame(packet(TCP, 6), tci), function.frame(packet(UDP))]
    lengths = [len(frames[0]) - 4, len(frames[1]) - 4, len(frames[2])]
    for switch, rest in (("on", 0), ("off", 8), ("on", 0)):
        function.run(f"ethtool -K DEV rxvlan {switch}")
        before = received(function)
        told = function.told(*frames)
        # Linux takes out what is left before a socket sees it: only the driver's bytes tell who did it.
        assert (received(function) - before - sum(lengths) - rest) % 60 == 0, "60: an answer of the small host"
        assert [one.tci for one in told] == [tci, tci, None]
        assert [one.good for one in told] == [True] * 3
        assert [one.length for one in told] == lengths
    function.guest.until(f"{function.enter}cat /sys/class/net/tagged/statistics/rx_packets", "^[1-9]")
    function.run("ip link del tagged")


def received(function: Receiver) -> int:
    """Bytes, as the driver has them from the card."""
    counts = function.statistics()
    return counts["rx0_bytes"] + counts["rx1_bytes"]
