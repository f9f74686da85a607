# SPDX-License-Identifier: Apache-2.0
"""Large frames of TCP and UDP, of a PF and of a VF: a card that can cuts them, else Linux does. What goes out is the same."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from driver_machine import Link, linked, tool, vfs_apart
from meridian_machine import tools
from netdev_family import TOOL as NETDEV_TOOL
from netdev_family import totals
from segments import ACK, CWR, ECE, FIN, PSH, TCP, UDP, Headers, Parsed, Sink, payload
from test_driver_tx_offloads import HERE6, NOBODY, PEER6, Sender, sender_of

pytestmark = [pytest.mark.qemu, pytest.mark.quick]
TOOL = Path(__file__).with_name("segments_tool.c")
HERE, FAR = "10.46.0.2", "10.46.0.99"
TAGGED, FAR_TAGGED = "10.47.0.2", "10.47.0.99"
VID = 7
TWINS = (("10.48.0.1", "10.48.0.2"), ("fd48::1", "fd48::2"))  # the PF's and the VF's
LEAST, MOST = 256, 8191  # bytes of payload that the card puts into a segment
LONGEST = 65535  # frame that it cuts
PIECES = 4  # that a frame may be in
BYTES = 200_000
FEATURES = ("tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp6-segmentation", "tx-udp-segmentation")
#: For packet sockets: linux/virtio_net.h.
GSO = {(TCP, False): 1, (TCP, True): 4, (UDP, False): 5, (UDP, True): 5}
WITH_ECN = 0x80


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    folder = tmp_path_factory.mktemp("tools")
    files = {source.stem: tool(folder, source) for source in (TOOL, NETDEV_TOOL)}
    with linked(tools.SUITES[0], files) as it, vfs_apart(it.guest):
        yield it


@pytest.fixture(params=["PF", "VF"], scope="module")
def function(request: pytest.FixtureRequest, machine: Link) -> Sender:
    it = sender_of(machine, request.param)
    it.run("ethtool -G DEV tx 64")  # frames go round the ring, which may be full
    # A stream as slow as in the twin has small frames otherwise.
    it.run("sysctl -q -w net.ipv4.tcp_min_tso_segs=40")
    return it


@pytest.fixture
def sender(function: Sender, own_dma: bool) -> Iterator[Sender]:
    """On a card that cuts; none of its frames is one that the card could not send."""
    if not own_dma:
        pytest.skip("this card cuts nothing")
    before = function.statistics()
    yield function
    after = function.statistics()
    for name in ("tx_dropped", "card_tx_error", "card_tx_oversize", "card_tx_offload_skipped"):
        assert after[name] == before[name], name


@contextmanager
def mtu(sender: Sender, size: int) -> Iterator[None]:
    sender.run(f"ip link set DEV mtu {size}")
    yield
    sender.run("ip link set DEV mtu 1500")


def segmented(sender: Sender) -> int:
    return sender.statistics()["tx_segmented"]


def wait_for(sender: Sender, start: int, count: int) -> list[bytes]:
    """So many frames to the one who does not answer, or what has come in a while."""
    deadline = sender.guest.deadline(10)
    while True:
        frames = [frame for frame in sender.link.peer.other[start:] if frame[:6].hex(":") == NOBODY]
        if len(frames) >= count or time.monotonic() > deadline:
            return frames
        time.sleep(0.02)


def test_a_card_that_cuts_says_so(function: Sender, own_dma: bool) -> None:
    features = function.run("ethtool -k DEV")
    for name in FEATURES:
        assert f"{name}: {'on' if own_dma else 'off [fixed]'}\n" in features, name
    if own_dma:
        assert "tx-tcp-mangleid-segmentation: off\n" in features
        assert f"tso_max_size {LONGEST} " in function.run("ip -d link show DEV")


def any_headers(random: Random, sender: Sender) -> Headers:
    is_v6 = random.random() < 0.4
    it = Headers(sender.address(), bytes.fromhex(NOBODY.replace(":", "")))
    it.of, it.to = (HERE6, PEER6) if is_v6 else (HERE, FAR)
    it.protocol = random.choice((TCP, TCP, UDP))
    it.tci = random.choice((-1, -1, 3 << 13 | VID))
    it.identification = random.choice((0xFFFE, random.randrange(1 << 16)))
    it.sequence = random.choice(((1 << 32) - 700, random.randrange(1 << 32)))
    it.flags = ACK | random.choice((0, FIN | PSH, CWR, CWR | ECE | PSH | FIN))
    it.ip_options = b"" if is_v6 else bytes([1]) * 4 * random.choice((0, 0, 3, 10))
    it.tcp_options = bytes([1]) * 4 * random.choice((0, 3, 10))
    return it


def pieces(rest: int) -> int:
    """That a packet socket puts so many bytes behind the first piece into: blocks of up to eight pages."""
    count = 0
    while rest > 0:
        pages = min(8, -(-rest // 4096))
        rest -= 4096 * (1 << pages.bit_length() - 1)
        count += 1
    return count


def any_size(random: Random, headers: Headers) -> tuple[int, int]:
    """Bytes of payload, and those of a segment."""
    segment = random.choice((LEAST - 1, LEAST, LEAST + 1, 1448, 1460, MOST, random.randint(100, MOST)))
    most = min(65535 - 80, 60 * segment) if headers.protocol == UDP else 65535 - 160
    length = random.choice((segment + 1, 2 * segment, 3 * segment - 1, 5 * segment + 1, random.randint(1, 65400)))
    return max(segment + 1, min(length, most)), segment


def hand_over(sender: Sender, headers: Headers, large: bytes, length: int, segment: int, first: int) -> None:
    """Gives Linux a frame with these bytes of headers, and so many of payload."""
    kind = GSO[headers.protocol, headers.is_v6]
    if headers.protocol == TCP and headers.flags & CWR:
        kind |= WITH_ECN
    sender.run(
        f"/run/twin/{TOOL.stem} raw DEV {kind} {segment} {headers.transport_at} {headers.checksum_field} {first} "
        f"{large.hex()} {length}"
    )


@pytest.mark.long
@pytest.mark.parametrize("way", ["on", "off"])
def test_frames_of_any_headers_go_out_as_they_should(sender: Sender, way: str) -> None:
    """The card and Linux both do what is reckoned here."""
    random = Random(5)
    with mtu(sender, 9000):
        sender.run(f"ethtool -K DEV tso {way} tx-udp-segmentation {way}")
        for number in range(60):
            headers = any_headers(random, sender)
            length, segment = any_size(random, headers)
            begin, before = len(sender.link.peer.other), segmented(sender)
            large = headers.large(length)
            first = random.choice((0, len(large), len(large) + 1, len(large) + length))
            hand_over(sender, headers, large, length, segment, first)
            wanted = headers.cut(payload(length), segment)
            said = f"{number}: {headers}, {length} bytes in segments of {segment}"
            assert wait_for(sender, begin, len(wanted)) == wanted, said
            rest = len(large) + length - max(first, headers.transport_at + headers.checksum_field + 2)
            is_cut = way == "on" and segment >= LEAST and len(large) + length <= LONGEST and pieces(rest) < PIECES
            assert segmented(sender) - before == is_cut, said
        sender.run("ethtool -K DEV tso on tx-udp-segmentation on")


@pytest.mark.parametrize("case", ["no length", "a wrong length", "segments that are too large, and no DF"])
def test_what_the_card_cannot_cut_linux_cuts(sender: Sender, case: str) -> None:
    headers = Headers(sender.address(), bytes.fromhex(NOBODY.replace(":", "")), identification=300)
    segment, length = 1448, 9000
    if case == "segments that are too large, and no DF":
        headers.may_be_cut, segment, length = True, MOST + 1, 20000
    large = headers.large(length)
    if case == "no length":
        large = large[:16] + b"\0\0" + large[18:]
    elif case == "a wrong length":
        large = large[:16] + (length - 100).to_bytes(2, "big") + large[18:]
    begin, before = len(sender.link.peer.other), segmented(sender)
    with mtu(sender, 9000):
        hand_over(sender, headers, large, length, segment, len(large))
        wanted = headers.cut(payload(length), segment)
        assert wait_for(sender, begin, len(wanted)) == wanted
    assert segmented(sender) == before


#: MTU, largest segment that the other end asks for, whether it has time stamps; and whether the card cuts.
STREAMS = {
    "segments of an ordinary MTU": (1500, 1460, False, True),
    "with options": (1500, 1460, True, True),
    "segments of a large MTU": (9000, 8000, False, True),
    "segments larger than the card makes": (9000, 8960, True, True),
    "small segments": (1500, 300, True, True),
    "segments smaller than the card makes": (1500, 200, False, False),
}


def stream(sender: Sender, far: str, segment: int, with_times: bool, words: str = f"{BYTES} 0") -> Sink:
    """A stream from a function to the wire, which came whole."""
    with Sink(sender.link.peer, 5000, segment, with_times) as sink:
        sender.run(f"timeout 50 /run/twin/{TOOL.stem} tcp {far} 5000 {words}")
        assert sink.is_whole.wait(10)
    assert bytes(sink.data) == payload(int(words.split()[0]))
    return sink


def check_order(frames: list[Parsed]) -> None:
    """Identifications go up by one, if nothing was sent again."""
    for one, next_one in itertools.pairwise(frames):
        assert next_one.sequence == (one.sequence + len(one.data)) & 0xFFFFFFFF
        if one.identification >= 0:
            assert next_one.identification == (one.identification + 1) & 0xFFFF


#: Linux cuts them into many frames, which takes the twin long.
SLOW = "segments smaller than the card makes"


@pytest.mark.parametrize("far", [FAR, PEER6], ids=["IPv4", "IPv6"])
@pytest.mark.parametrize("name", [pytest.param(it, marks=pytest.mark.long if it == SLOW else ()) for it in STREAMS])
def test_streams_of_tcp_are_cut(sender: Sender, far: str, name: str) -> None:
    size, segment, with_times, is_cut = STREAMS[name]
    before = sender.statistics()
    with mtu(sender, size):
        sink = stream(sender, far, segment, with_times)
    after = sender.statistics()
    most = min(segment, size - (60 if ":" in far else 40)) - (12 if with_times else 0)
    lengths = [len(frame.data) for frame in sink.frames]
    is_larger = most > MOST
    most = min(most, MOST) if is_larger else most
    assert max(lengths) == most
    assert len(lengths) <= 1.5 * BYTES / most, "short segments"
    if sum(lengths) == BYTES and not is_larger:
        check_order(sink.frames)
    assert after["tx_linearized"] == before["tx_linearized"]
    grown = after["tx_segmented"] - before["tx_segmented"]
    assert grown > len(lengths) // 64 if is_cut else grown == 0


def test_linux_cuts_where_that_is_wished(sender: Sender) -> None:
    sender.run("ethtool -K DEV tso off")
    before = segmented(sender)
    sink = stream(sender, FAR, 1460, False)
    assert segmented(sender) == before
    assert max(len(frame.data) for frame in sink.frames) == 1460
    sender.run("ethtool -K DEV tso on")
    stream(sender, FAR, 1460, False)
    assert segmented(sender) > before


def test_streams_in_many_pieces_are_cut_by_linux(sender: Sender) -> None:
    """A descriptor has no room for so many."""
    before = sender.statistics()
    sink = stream(sender, FAR, 1460, False, "40000 100")
    after = sender.statistics()
    assert after["tx_segmented"] == before["tx_segmented"]
    assert after["tx_linearized"] > before["tx_linearized"]
    assert max(len(frame.data) for frame in sink.frames) == 1460


#: MTU, and bytes of payload.
DATAGRAMS = [*((1500, segment) for segment in (100, 255, 256, 257, 999, 1452)), (9000, 8191), (9000, 8900)]


@pytest.mark.parametrize("far", [FAR, PEER6], ids=["IPv4", "IPv6"])
def test_datagrams_have_the_length_that_a_program_asks_for(sender: Sender, far: str) -> None:
    for size, segment in DATAGRAMS:
        lengths = [segment + 1, 2 * segment, 7 * segment + 13, min(60 * segment + 1, 65000)]
        is_cut = LEAST <= segment <= MOST
        begin, before = len(sender.link.peer.other), segmented(sender)
        with mtu(sender, size):
            sender.run(f"/run/twin/{TOOL.stem} udp {far} 9 {segment} {' '.join(map(str, lengths))}")
            wanted = [payload(length)[at : at + segment] for length in lengths for at in range(0, length, segment)]
            frames = [Parsed.of(frame) for frame in wait_for(sender, begin, len(wanted))]
        assert [frame and frame.data for frame in frames] == wanted, segment
        assert all(frame and frame.protocol == UDP and frame.is_good for frame in frames), segment
        assert segmented(sender) - before == (len(lengths) if is_cut else 0), segment


@pytest.mark.parametrize("inserts", ["on", "off"])
def test_segments_have_the_tag_whoever_puts_it(sender: Sender, inserts: str) -> None:
    sender.run(f"ethtool -K DEV tx-vlan-hw-insert {inserts}")
    sender.run(f"ip link add link DEV name tagged type vlan id {VID} egress-qos-map 0:5")
    sender.run("ip -6 address flush dev DEV")
    try:
        sender.set_up(TAGGED, "tagged")
        assert "tcp-segmentation-offload: on\n" in sender.run("ethtool -k tagged")
        for far in (FAR_TAGGED, PEER6):
            before = segmented(sender)
            sink = stream(sender, far, 1440, True)
            assert {frame.tci for frame in sink.frames} == {5 << 13 | VID}
            assert max(len(frame.data) for frame in sink.frames) == 1428
            assert segmented(sender) > before
            begin = len(sender.link.peer.other)
            sender.run(f"/run/twin/{TOOL.stem} udp {far} 9 700 2500")
            frames = [Parsed.of(frame) for frame in wait_for(sender, begin, 4)]
            assert b"".join(frame.data for frame in frames if frame) == payload(2500)
            assert {frame and (frame.tci, frame.is_good) for frame in frames} == {(5 << 13 | VID, True)}
    finally:
        sender.run("ip link del tagged")
        sender.run(f"ip -6 address add {HERE6}/64 dev DEV nodad")
        sender.run(f"ip -6 neigh replace {PEER6} lladdr {NOBODY} dev DEV")
        sender.run("ethtool -K DEV tx-vlan-hw-insert on")


def test_counters_count_what_goes_out(sender: Sender) -> None:
    lengths, segment = (30000, 520, 20000, 9000), 500
    begin, before, card = len(sender.link.peer.other), totals(sender), sender.statistics()
    sender.run(f"/run/twin/{TOOL.stem} udp {FAR} 9 {segment} {' '.join(map(str, lengths))}")
    count = sum(-(-length // segment) for length in lengths)
    frames = wait_for(sender, begin, count)
    assert len(frames) == count
    deadline = sender.guest.deadline(10)
    while (after := totals(sender))["tx_packets"] < before["tx_packets"] + count and time.monotonic() < deadline:
        time.sleep(0.05)
    grown = {name: value - before[name] for name, value in after.items() if name.startswith("tx_")}
    # Linux may send something of its own meanwhile, or just before.
    own = sender.address()
    others = [it for it in sender.link.peer.other[begin:] if it[6:12] == own and it not in frames]
    sent = sum(lengths) + 42 * count
    assert count <= grown["tx_packets"] <= count + len(others)
    assert sent <= grown["tx_bytes"] <= sent + sum(map(len, others))
    assert count <= grown["tx_needs_csum"] <= count + len(others)
    assert grown["tx_hw_gso_packets"] == len(lengths)
    assert grown["tx_hw_gso_bytes"] == sum(lengths) + 42 * len(lengths)
    assert grown["tx_hw_gso_wire_packets"] == count
    assert grown["tx_hw_gso_wire_bytes"] == sent
    now = sender.statistics()
    assert now["tx_segmented"] - card["tx_segmented"] == len(lengths)
    assert now["card_tx_sent"] - card["card_tx_sent"] >= count


def test_streams_inside_the_card_arrive_whole(machine: Link, own_dma: bool) -> None:
    """From PF to VF and back."""
    functions = [Sender(machine, is_vf) for is_vf in (False, True)]
    for function, *addresses in zip(functions, *TWINS, strict=True):
        for address, length in zip(addresses, ("24", "64"), strict=True):
            function.run(f"ip address add {address}/{length} dev DEV {'nodad' if ':' in address else ''}")
        function.run("ip link set DEV up")
    machine.guest.run(f"head -c {BYTES} /dev/urandom >/tmp/out")
    for pair in TWINS:
        for (sender, receiver), to in zip(itertools.permutations(functions), reversed(pair), strict=True):
            before = sender.statistics()
            listen = f"nc {'-6' if ':' in to else '-4'} -l -N 7000"
            machine.guest.run(f"{receiver.enter}timeout 60 {listen} >/tmp/in & echo $! >/tmp/nc.pid")
            machine.guest.until(f"{receiver.enter}ss -Htln", ":7000 ")
            sender.run(f"timeout 60 nc -N {to} 7000 </tmp/out")
            machine.guest.run("while [ -e /proc/$(cat /tmp/nc.pid) ]; do sleep 0.05; done; cmp /tmp/in /tmp/out")
            after = sender.statistics()
            assert (after["tx_segmented"] > before["tx_segmented"]) == own_dma
            assert after["card_tx_error"] == before["card_tx_error"]
