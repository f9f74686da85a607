# SPDX-License-Identifier: Apache-2.0
"""The golden model against hand-worked cases: each follows from one sentence of the design."""

from __future__ import annotations

import pytest
from meridian_golden.checksum import Checksums, checksums
from meridian_golden.frame import parse
from meridian_golden.limit import UNIT, Bucket, Rate, is_ptp
from meridian_golden.offload import Request, filled
from meridian_golden.rss import DEFAULT_KEY, rss_hash
from meridian_golden.shell import GoldenShell, padded

PS = bytes.fromhex("02000000000a")
ALICE = bytes.fromhex("02000000aa01")
BOB = bytes.fromhex("02000000bb02")
EVERYBODY = b"\xff" * 6
GROUP = bytes.fromhex("01005e000001")


def frame(destination: bytes, source: bytes = BOB, vid: int | None = None, size: int = 64) -> bytes:
    tag = b"" if vid is None else b"\x81\x00" + vid.to_bytes(2, "big")
    return (destination + source + tag + b"\x08\x00" + bytes(size))[:size]


@pytest.fixture
def shell() -> GoldenShell:
    model = GoldenShell(ports=1, functions=8)
    model.ports[0].rx_enable = model.ports[0].tx_enable = True
    model.ports[0].ps_enable = True
    model.ports[0].ps_addresses = {PS}
    for function in range(4):
        model.functions[function].promiscuous = False
        model.functions[function].all_multicast = False
    for function in (0, 4, 5):
        model.set_queues(function, 4 * function, 4)
    model.addresses[0, ALICE, None] = 4
    return model


def targets(outcome) -> set[int]:
    return {d.function for d in outcome.host if d.verdict == "delivered"}


def test_ps_address_goes_to_the_ps_alone(shell):
    outcome = shell.receive(0, frame(PS))
    assert outcome.to_ps and not outcome.host


def test_promiscuous_ps_gets_a_copy_of_what_is_for_others(shell):
    outcome = shell.receive(0, frame(ALICE))
    assert targets(outcome) == {4} and not outcome.to_ps
    shell.ports[0].ps_promiscuous = True
    outcome = shell.receive(0, frame(ALICE))
    assert targets(outcome) == {4} and outcome.to_ps
    shell.ports[0].ps_enable = False
    assert not shell.receive(0, frame(ALICE)).to_ps


def test_table_hit_goes_to_that_function_alone(shell):
    outcome = shell.receive(0, frame(ALICE))
    assert targets(outcome) == {4} and not outcome.to_ps


def test_an_entry_of_the_frames_vlan_wins_over_one_of_any_vlan(shell):
    shell.addresses[0, ALICE, 7] = 5
    assert targets(shell.receive(0, frame(ALICE, vid=7))) == {5}
    assert targets(shell.receive(0, frame(ALICE, vid=8))) == {4}


def test_broadcast_reaches_ps_and_all_that_want_it(shell):
    shell.functions[5].broadcast = False
    outcome = shell.receive(0, frame(EVERYBODY))
    assert outcome.to_ps and targets(outcome) == {0, 4} and outcome.copying


def test_multicast_goes_to_members_of_the_group_and_to_all_multicast_functions(shell):
    assert shell.receive(0, frame(GROUP)).host[0].verdict == "noListener"
    shell.multicast_groups[0, GROUP, None] = {5}
    shell.functions[0].all_multicast = True
    assert targets(shell.receive(0, frame(GROUP))) == {0, 5}


def test_unknown_unicast_goes_to_promiscuous_functions_else_the_default_else_nobody(shell):
    assert shell.receive(0, frame(BOB)).host[0].verdict == "noMatch"
    shell.ports[0].default_function = 0
    assert targets(shell.receive(0, frame(BOB))) == {0}
    shell.functions[5].promiscuous = True
    assert targets(shell.receive(0, frame(BOB))) == {5}


def test_a_port_that_is_switched_off_for_the_host_gives_the_ps_its_frames(shell):
    shell.ports[0].rx_enable = False
    for destination in (ALICE, EVERYBODY):
        outcome = shell.receive(0, frame(destination))
        assert [it.verdict for it in outcome.host] == ["hostDisabled"]
        assert outcome.to_ps == (destination == EVERYBODY)


@pytest.mark.parametrize(("size", "drop"), [(59, "runt"), (60, None), (9600, None), (9601, "oversize")])
def test_a_frame_below_60_or_above_9600_bytes_is_dropped(shell, size, drop):
    assert shell.receive(0, frame(ALICE, size=size)).drop == drop


def test_queue_of_another_function_is_refused(shell):
    shell.functions[4].indirection = [4] * 128
    assert shell.receive(0, frame(ALICE)).host[0].verdict == "badQueue"


def test_transmit_drops_spoofed_short_and_ownerless_frames_and_all_without_link(shell):
    assert shell.transmit(16, frame(BOB, ALICE)).verdict == "sent"
    assert shell.transmit(16, frame(BOB, BOB)).verdict == "spoof"
    assert shell.transmit(0, frame(BOB, BOB)).verdict == "sent"  # PFs are trusted
    assert shell.transmit(99, frame(BOB, ALICE)).verdict == "noFunction"
    assert shell.transmit(16, b"short").verdict == "runt"
    shell.ports[0].link_up = False
    assert shell.transmit(16, frame(BOB, ALICE)).verdict == "linkDown"


@pytest.fixture
def bridge(shell: GoldenShell) -> GoldenShell:
    shell.ports[0].veb = True
    shell.addresses[0, BOB, None] = 5
    return shell


def test_switch_keeps_known_unicast_inside(bridge):
    to_bob = bridge.transmit(16, frame(BOB, ALICE))
    assert to_bob.verdict == "switched" and targets(to_bob) == {5} and not to_bob.to_ps
    assert bridge.transmit(16, frame(PS, ALICE)).verdict == "toPs"
    assert bridge.transmit(16, frame(ALICE, ALICE)).verdict == "hairpin"
    stranger = bridge.transmit(16, frame(b"\x02" * 6, ALICE))
    assert stranger.on_wire and not stranger.inside
    bridge.ports[0].veb = False
    assert bridge.transmit(16, frame(BOB, ALICE)).on_wire


@pytest.mark.parametrize(
    ("head", "controls"),
    [
        ("0180c2000001", True),  # where PAUSE goes
        ("0180c200000f", True),
        ("0180c2000010", False),
        ("0180c2000100", False),
        ("024242424242 8808", True),
        ("024242424242 8100 0005 8808", True),
        ("024242424242 88a8 0005 8808", True),
        ("024242424242 8809", False),
        ("024242424242 0800 0005 8808", False),
    ],
)
def test_frames_that_control_the_link_are_for_the_wire_and_for_who_may_send_them(bridge, head, controls):
    head = bytes.fromhex(head)
    data = (head[:6] + ALICE + head[6:]).ljust(60, b"\0")
    bridge.addresses[0, ALICE, 5] = 4
    bridge.addresses[0, bytes.fromhex("024242424242"), None] = 5
    bridge.multicast_groups[0, head[:6], None] = {5}
    inside = bridge.transmit(16, data)
    assert inside.verdict == ("controlFrame" if controls else "sent" if head[0] & 1 else "switched")
    bridge.functions[4].control_frames = True
    outcome = bridge.transmit(16, data)
    assert outcome.on_wire == (controls or bool(head[0] & 1)) and outcome.inside != controls
    assert not controls or not outcome.to_ps


def test_switch_copies_broadcast_to_all_but_the_sender(bridge):
    outcome = bridge.transmit(16, frame(EVERYBODY, ALICE))
    assert outcome.on_wire and outcome.to_ps and targets(outcome) == {0, 5} and outcome.copying
    bridge.functions[0].broadcast = bridge.functions[5].broadcast = False
    assert bridge.transmit(16, frame(EVERYBODY, ALICE)).host[0].verdict == "noListener"


def test_promiscuous_functions_see_the_wire_only(bridge):
    bridge.functions[0].promiscuous = True
    assert not bridge.transmit(16, frame(b"\x02" * 6, ALICE)).inside
    assert targets(bridge.transmit(16, frame(BOB, ALICE))) == {5}


def test_the_switch_takes_frames_of_the_ps_to_functions(bridge):
    to_bob = bridge.transmit_ps(0, frame(BOB, PS))
    assert not to_bob.on_wire and targets(to_bob) == {5}
    everybody = bridge.transmit_ps(0, frame(EVERYBODY, PS))
    assert everybody.on_wire and targets(everybody) == {0, 4, 5}
    assert bridge.transmit_ps(0, frame(b"\x02" * 6, PS)).on_wire
    assert len(bridge.transmit_ps(0, frame(BOB, PS, size=14)).host) == 1


def test_hash_is_linear_and_starts_at_the_key():
    """One set input bit gives the 32 key bits from its own position on."""
    protocol = bytearray(frame(ALICE))
    protocol[14] = 0x45
    assert rss_hash(bytes(protocol)) == 0
    protocol[14 + 9] = 0x01
    number = sum(word << 32 * i for i, word in enumerate(DEFAULT_KEY))
    assert rss_hash(bytes(protocol)) == number >> 4 & 0xFFFFFFFF


def test_a_short_frame_is_parsed_and_padded_with_zeros():
    assert parse(frame(ALICE, vid=5)).vid == 5
    assert parse(b"\x01").destination == b"\x01" + bytes(5)
    assert len(padded(b"x" * 14)) == 60


@pytest.mark.parametrize(
    ("ip", "udp", "verdicts"),
    [
        # The IPv4 header that textbooks sum: b861; 10.0.0.1 to 10.0.0.2, port 1 to 2, adds up to 1427: ebd8.
        ("45000073000040004011b861c0a80001c0a800c7", "00350035005f0000", ("good", "not_checked", "udp")),
        ("45000073000040004011b862c0a80001c0a800c7", "00350035005e1234", ("bad", "not_checked", "udp")),
        ("4500001c00000000401166cf0a0000010a000002", "000100020008ebd8", ("good", "good", "udp")),
        ("4500001c00000000401166cf0a0000010a000002", "000100020008ebd9", ("good", "bad", "udp")),
        ("4500001c00002000401146cf0a0000010a000002", "000100020008ebd8", ("good", "not_checked", "other")),
        ("450000ff00000000401166cf0a0000010a000002", "000100020008ebd8", ("not_checked", "not_checked", "other")),
    ],
)
def test_checksums_of_known_packets_have_the_right_verdicts(ip: str, udp: str, verdicts: tuple[str, str, str]) -> None:
    frame = ALICE + BOB + b"\x08\x00" + bytes.fromhex(ip + udp) + bytes(100)
    assert checksums(frame) == Checksums(*verdicts)
    tagged = frame[:12] + b"\x81\x00\x00\x07" + frame[12:]
    assert checksums(tagged) == Checksums(*verdicts)


def test_a_function_in_a_vlan_sends_with_its_tag_and_brings_none(shell):
    shell.functions[4].insert, shell.functions[4].strip = 0x6007, True
    shell.addresses = {(0, ALICE, 7): 4}
    sent = shell.transmit(16, frame(BOB, ALICE))
    assert sent.verdict == "sent" and sent.data == BOB + ALICE + b"\x81\0\x60\x07" + frame(BOB, ALICE)[12:]
    assert shell.transmit(16, frame(BOB, ALICE, vid=7)).verdict == "spoof"
    shell.functions[4].trusted = True
    assert shell.transmit(16, frame(BOB, ALICE, vid=7)).verdict == "spoof"
    assert [shell.transmit(16, frame(BOB, ALICE, size=size)).verdict for size in (9596, 9597)] == ["sent", "oversize"]
    (delivery,) = shell.receive(0, frame(ALICE, vid=7)).host
    assert delivery.data == frame(ALICE, vid=7)[:12] + frame(ALICE, vid=7)[16:] and delivery.told.vlan_tci is None


def test_inside_the_card_a_vlan_decides_as_on_the_wire(shell):
    shell.ports[0].veb = True
    shell.addresses = {(0, ALICE, 7): 4, (0, BOB, 7): 5}
    shell.functions[4].insert = 7
    inside = shell.transmit(16, frame(BOB, ALICE))
    assert inside.verdict == "switched" and targets(inside) == {5}
    shell.functions[4].insert, shell.functions[4].trusted = 8, True
    assert shell.transmit(16, frame(BOB, ALICE)).verdict == "sent"


def udp4(payload: bytes, checksum: bytes = b"\0\0") -> bytes:
    """From RFC 1071's rules by hand: 192.168.0.1 to 192.168.0.199, ports 1 and 2."""
    size = 8 + len(payload)
    header = bytes.fromhex("4500") + (20 + size).to_bytes(2, "big") + bytes.fromhex("0000400040110000c0a80001c0a800c7")
    return BOB + ALICE + b"\x08\0" + header + b"\0\1\0\2" + size.to_bytes(2, "big") + checksum + payload


def test_checksums_are_filled_in_by_hand():
    """Header: 4500+0020+0000+4000+4011+0000+c0a8+0001+c0a8+00c7 = 24749 -> 474b -> b8b4; see RFC 1071."""
    data, missing = filled(udp4(b"ABCD", b"xy"), Request(ip=True, l4=True))
    assert not missing and data[24:26] == bytes.fromhex("b8b4")
    # Pseudo header c0a8+0001+c0a8+00c7+0011+000c, datagram 0001+0002+000c+4142+4344.
    total = 0xC0A8 + 1 + 0xC0A8 + 0xC7 + 0x11 + 0xC + 1 + 2 + 0xC + 0x4142 + 0x4344
    assert int.from_bytes(data[40:42], "big") == 0xFFFF - (total % 0x10000 + total // 0x10000)
    assert checksums(data.ljust(60, b"\0")) == Checksums("good", "good", "udp")


def test_a_udp_checksum_is_never_zero():
    data, _ = filled(udp4(b"\0\0"), Request(l4=True))
    zero, missing = filled(udp4(data[40:42]), Request(l4=True))
    assert zero[40:42] == b"\xff\xff" and not missing


@pytest.mark.parametrize(
    ("at", "value", "ip", "l4"),
    [
        (12, 0x86, False, False),  # not IPv4
        (20, 0x20, True, False),  # a fragment
        (23, 47, True, False),  # GRE
        (17, 0x40, False, False),  # longer than the frame
        (39, 0x09, True, False),  # a datagram that is not its packet
    ],
)
def test_no_checksum_is_filled_into_a_packet_that_cannot_have_it(at, value, ip, l4):
    frame = bytearray(udp4(b"ABCD", b"xy"))
    frame[at] = value
    for request, done in ((Request(ip=True), ip), (Request(l4=True), l4)):
        data, missing = filled(bytes(frame), request)
        assert missing == (not done) and (data != frame) == done


def test_requests_count_on_queues_that_may_ask(shell):
    shell.addresses = {(0, ALICE, None): 4, (0, ALICE, 9): 4}
    ask = 1 << 16 | 9
    assert shell.transmit(16, frame(BOB, ALICE), metadata=ask).data == frame(BOB, ALICE)
    shell.transmit_offload = {16}
    assert (
        shell.transmit(16, frame(BOB, ALICE), metadata=ask).data
        == frame(BOB, ALICE)[:12] + b"\x81\0\0\x09" + frame(BOB, ALICE)[12:]
    )
    shell.functions[4].insert = 10
    assert shell.transmit(16, frame(BOB, ALICE), metadata=ask).data[14:16] == b"\0\x0a"
    assert shell.transmit(16, frame(BOB, ALICE), metadata=1 << 17).unfilled


def of_ptp(*words: tuple[int, int], size: int = 80) -> bytes:
    data = bytearray(size)
    for at, word in words:
        data[at : at + 2] = word.to_bytes(2, "big")
    return bytes(data)


@pytest.mark.parametrize(
    ("words", "size", "is_one"),
    [
        (((12, 0x88F7),), 60, True),
        (((12, 0x8100), (16, 0x88F7)), 60, True),
        (((12, 0x88A8), (16, 0x88F7)), 60, True),
        (((16, 0x88F7),), 60, False),
        (((12, 0x0800), (36, 319)), 60, True),
        (((12, 0x0800), (36, 320)), 60, True),
        (((12, 0x0800), (36, 318)), 60, False),
        (((12, 0x0800), (40, 319)), 80, False),
        (((12, 0x8100), (16, 0x0800), (40, 319)), 60, True),
        (((12, 0x86DD), (56, 320)), 106, True),
        (((12, 0x86DD), (56, 320)), 64, False),
        (((12, 0x8100), (16, 0x86DD), (60, 319)), 110, True),
        (((12, 0x86DD), (36, 319)), 110, False),
        (((12, 0x88A8), (16, 0x8100), (20, 0x88F7)), 60, True),
        (((12, 0x8100), (16, 0x8100), (20, 0x0800), (44, 319)), 60, True),
        (((12, 0x88A8), (16, 0x8100), (20, 0x86DD), (64, 320)), 114, True),
        (((12, 0x88A8), (16, 0x8100), (20, 0x86DD), (64, 320)), 72, False),
        (((12, 0x88A8), (16, 0x8100), (20, 0x0800), (40, 319)), 80, False),
        (((12, 0x88A8), (16, 0x8100), (20, 0x8100), (24, 0x88F7)), 80, False),
        (((12, 0x0800), (16, 0x8100), (20, 0x88F7)), 80, False),
        (((12, 0x0806), (36, 319)), 80, False),
    ],
)
def test_frames_of_ptp_are_recognised_by_type_or_udp_port_behind_tags(words, size, is_one):
    assert is_ptp(of_ptp(*words, size=size)) == is_one


@pytest.mark.parametrize("tags", [0, 1, 2])
@pytest.mark.parametrize(
    ("kind", "port", "header"), [(0x88F7, None, 0), (0x0800, 24, 28), (0x86DD, 44, 48)], ids=["layer 2", "IPv4", "IPv6"]
)
def test_the_shortest_message_of_ptp_is_one(tags, kind, port, header):
    """A Sync of 44 bytes: what tells of PTP is in no frame's last beat, which does not count."""
    words = [(12 + 4 * tag, 0x8100) for tag in range(tags)] + [(12 + 4 * tags, kind)]
    size = max(60, 14 + 4 * tags + header + 44)
    if port is None:
        assert is_ptp(of_ptp(*words, size=size))
        return
    at = 12 + 4 * tags + port
    assert is_ptp(of_ptp(*words, (at, 319), size=size))
    for cut in range(at + 2, size + 1):
        assert is_ptp(of_ptp(*words, (at, 319), size=cut)) == (at + 2 <= (cut - 1) // 8 * 8)


def test_bucket_holds_what_was_seen_to_burst_and_rate():
    rate = Rate(1000, 3)
    a_token_ns = 1e9 / (1000 * UNIT)
    bucket = Bucket(rate)
    assert all(bucket.saw(10, True) for _ in range(3))
    assert not bucket.saw(20, True)
    quiet = Bucket(rate)
    assert [quiet.saw(1e9, True) for _ in range(4)] == [True, True, True, False], "no more than the burst is saved up"
    bucket = Bucket(rate)
    bucket.saw(4 * a_token_ns, False)
    assert not Bucket(rate).saw(4 * a_token_ns, False)
    seen = [(n * a_token_ns / 2, n % 2 == 0) for n in range(100)]
    bucket = Bucket(rate)
    assert all(bucket.saw(*it) for it in seen)
    bucket = Bucket(rate)
    assert not all(bucket.saw(at, not passed or n % 4 == 0) for n, (at, passed) in enumerate(seen))
