# SPDX-License-Identifier: Apache-2.0
"""The Linux driver of the PS: frames of every size, filter, settings, timestamps against the wire's, the clock, and what
happens when a ring is broken. One machine of each suite for all, whose wire ends in a small host of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from driver_machine import Link
from meridian_machine import tools
from meridian_machine.guest import Guest, GuestError
from peer import Peer, ethernet
from ps_link import (
    CLOCK_REGISTERS,
    INTERRUPT_ENABLE,
    POLICERS,
    PORT,
    RING,
    policers,
    ps_link,
    register,
    set_policer,
    until,
)
from ptp_frames import DELAY_RESP, FOLLOW_UP, SYNC, PtpMessage, delay_req, parse

pytestmark = pytest.mark.qemu
LONGEST = 9578  # the largest MTU: the card's 9600 bytes, less header and two VLAN tags
PTP_GROUP = "01:1b:19:00:00:00"
TABLES = 0xA000_001C  # how large the card's tables are
ADDRESS = PORT + 0x140
TX_PRODUCER = RING + 0x30
PTP_STATUS = CLOCK_REGISTERS + 0x4
PEROUT_RUNS = 1 << 16
MARK = 0x88B5
CLOCK = "/sys/class/ptp/ptp0"
# A MAC clock has 2.56 ns, and a timestamp its nearest nanosecond.
EXACT_PS = 4000
PREAMBLE_PS = 8 * 8 * 40
SERVER = """[global]
network_transport L2
fault_reset_interval ASAP
logSyncInterval -2
logAnnounceInterval -2
tx_timestamp_timeout 2000
"""


@pytest.fixture(scope="module", params=tools.SUITES)
def ps(request: pytest.FixtureRequest) -> Iterator[Link]:
    with ps_link(suite=request.param) as link:
        yield link


def received(guest: Guest) -> int:
    return int(guest.run("cat /sys/class/net/eth0/statistics/rx_packets"))


def test_ping_passes_at_every_size_up_to_the_largest_mtu(ps: Link) -> None:
    ps.guest.ping(size=0)
    ps.guest.ping(size=1472)
    ps.guest.run(f"ip link set eth0 mtu {LONGEST}")
    ps.guest.wait_link()
    for size in (214, 215, 1472, LONGEST - 28):  # the last that is copied, the first that is not
        ps.guest.ping(size=size)
    assert ps.guest.try_run(f"ip link set eth0 mtu {LONGEST + 1}")[0] != 0
    ps.guest.run("ip link set eth0 mtu 1500")
    ps.guest.ping()


def test_a_frame_beyond_the_mtu_is_dropped_and_counted(ps: Link) -> None:
    before = ps.guest.statistics()["card_rx_buffer_small"]
    ps.peer.wire.send(ethernet(ps.guest.address(), ps.peer.mac, MARK, bytes(1600)))
    until(lambda: ps.guest.statistics()["card_rx_buffer_small"] == before + 1, "drop")
    ps.guest.ping()


@pytest.mark.parametrize("mtu", [1500, 4096, LONGEST])
def test_a_frame_of_the_mtu_has_room_for_two_tags(ps: Link, mtu: int) -> None:
    """And for no byte more."""
    guest, own = ps.guest, ps.guest.address()
    tags = bytes.fromhex("00c8 8100 0064") + MARK.to_bytes(2, "big")
    guest.run(f"ip link set eth0 mtu {mtu}")
    guest.wait_link()
    for payload, fits in ((mtu, True), (mtu + 1, False)):
        before = guest.statistics()
        ps.peer.wire.send(ethernet(own, ps.peer.mac, 0x88A8, tags + bytes(payload)))
        guest.ping(count=1)
        now = guest.statistics()
        dropped = sum(now[name] - before[name] for name in ("card_rx_buffer_small", "port_rx_oversize"))
        assert dropped == (0 if fits else 1), (mtu, payload)
    guest.run("ip link set eth0 mtu 1500")
    guest.wait_link()


def test_the_card_filters_by_the_interfaces_groups_and_flags(ps: Link) -> None:
    """Sent: to nobody here, to a group. What comes is counted by the driver; the ping behind it came in order."""

    def come(*destinations: str) -> int:
        before = received(ps.guest)
        for to in destinations:
            ps.peer.wire.send(ethernet(bytes.fromhex(to.replace(":", "")), ps.peer.mac, MARK, b"x"))
        ps.guest.ping(count=1)
        return received(ps.guest) - before - 1

    ps.guest.ping()  # so that no ARP is among it
    stranger, many = "02:00:00:00:00:77", [f"01:00:5e:7f:00:{i:02x}" for i in range(20)]
    assert come(stranger, PTP_GROUP, many[0]) == 0
    ps.guest.run(f"ip maddress add {PTP_GROUP} dev eth0")
    assert come(stranger, PTP_GROUP, many[0]) == 1
    for group in many:  # more than the card has room for
        ps.guest.run(f"ip maddress add {group} dev eth0")
    assert come(stranger, PTP_GROUP, *many) == 21
    for group in many:
        ps.guest.run(f"ip maddress del {group} dev eth0")
    assert come(stranger, PTP_GROUP, many[0]) == 1
    ps.guest.run("ip link set eth0 promisc on")
    assert come(stranger, PTP_GROUP, many[0]) == 3
    ps.guest.run(f"ip link set eth0 promisc off && ip maddress del {PTP_GROUP} dev eth0")
    assert come(stranger, PTP_GROUP) == 0
    ps.guest.run("ip link set eth0 address 02:00:00:00:00:77")
    ps.guest.ping()
    assert come(stranger, stranger) == 2


def test_groups_of_ptp_have_places_before_unicast_addresses(ps: Link) -> None:
    guest = ps.guest
    room = register(guest, TABLES) >> 16 & 0xFF

    def places() -> set[str]:
        words = guest.run(f"for at in $(seq {ADDRESS} 4 {ADDRESS + 8 * room - 4}); do busybox devmem $at; done")
        values = [int(word, 16) for word in words.split()]
        pairs = zip(values[::2], values[1::2], strict=True)
        return {(low | (high & 0xFFFF) << 32).to_bytes(6, "little").hex(":") for low, high in pairs if high >> 31}

    many = [f"02:00:00:00:01:{number:02x}" for number in range(room - 1)]
    for address in many:
        guest.run(f"bridge fdb add {address} dev eth0")
    assert places() >= set(many)
    guest.run(f"ip maddress add {PTP_GROUP} dev eth0")
    assert PTP_GROUP in places()
    before = received(guest)
    for to in (PTP_GROUP, *many):  # what has no place now comes by the wider switch
        ps.peer.wire.send(ethernet(bytes.fromhex(to.replace(":", "")), ps.peer.mac, MARK, b"x"))
    until(lambda: received(guest) >= before + 1 + len(many), "frames to all of them")
    for address in many:
        guest.run(f"bridge fdb del {address} dev eth0")
    guest.run(f"ip maddress del {PTP_GROUP} dev eth0")
    guest.ping()


def test_rings_and_moderation_can_be_set(ps: Link) -> None:
    guest = ps.guest
    guest.run("ethtool -G eth0 rx 4000 tx 64")
    assert re.findall(r"\n[RT]X:\s+(\d+)", guest.run("ethtool -g eth0")) == ["4096", "4096", "4096", "64"]
    guest.wait_link()
    guest.ping(size=1000)
    guest.run("ethtool -G eth0 rx 512 tx 512")
    assert guest.try_run("ethtool -G eth0 rx 32")[0] != 0
    guest.run("ethtool -C eth0 rx-usecs 200 rx-frames 8 tx-usecs 0 tx-frames 0")
    assert re.findall(r"\n[rt]x-(?:usecs|frames):\s+(\d+)", guest.run("ethtool -c eth0")) == ["200", "8", "0", "0"]
    guest.ping()
    assert guest.try_run("ethtool -C eth0 rx-frames 256")[0] != 0
    assert "25000Mb/s" in guest.run("ethtool eth0")
    assert "map 1." in guest.run("ethtool -i eth0")


def test_limits_are_what_devlink_says(ps: Link) -> None:
    """And hold: of a burst of a hundred frames the card lets through ten, and every message of PTP."""
    guest = ps.guest

    def registers() -> tuple[int, int]:
        others, ptp = (register(guest, PORT + at) for at in (0x104, 0x108))
        return others, ptp

    given = (1 << 31 | 200 << 16 | 134, 64 << 16 | 11)
    assert policers(guest) == POLICERS
    assert registers() == given
    for number, rate, burst in ((1, 1_524_389, 10), (2, 1490, 256), (2, 1490, 0), (3, 1490, 10)):
        with pytest.raises(GuestError):
            set_policer(guest, number, rate, burst)
    for number, rate in ((1, 1), (2, 1489)):
        with pytest.raises(GuestError, match="the smallest rate is 1490 frames a second; 0 is no limit"):
            set_policer(guest, number, rate)
    assert registers() == given and policers(guest) == POLICERS

    before, count = guest.statistics(), 100
    set_policer(guest, 1, 1490, 10)
    assert registers()[0] == 1 << 31 | 10 << 16 | 1
    own, of = guest.address(), ps.peer.mac
    for kind in (MARK, 0x88F7):
        for number in range(count if kind == MARK else 20):
            ps.peer.wire.send(ethernet(own, of, kind, number.to_bytes(4, "big")))
    until(lambda: guest.statistics()["port_rx_frames"] - before["port_rx_frames"] >= count + 20, "frames of the wire")
    now = guest.statistics()
    policed = now["port_rx_ps_policed"] - before["port_rx_ps_policed"]
    assert 60 <= policed <= count - 10  # the frames may take a while, and more pass
    assert now["port_rx_ps_ptp_policed"] == before["port_rx_ps_ptp_policed"]
    assert now["card_rx_frames"] - before["card_rx_frames"] >= count + 20 - policed
    assert int(guest.run("cat /sys/class/net/eth0/statistics/rx_missed_errors")) >= policed
    # Without one limit, the other holds; without both, the card has none.
    set_policer(guest, 1, 0)
    assert registers() == (1 << 31 | 255 << 16 | 0x3FF, given[1])
    set_policer(guest, 2, 0)
    assert registers()[0] >> 31 == 0
    for number, (rate, burst) in POLICERS.items():
        set_policer(guest, number, rate, burst)
    assert registers() == given
    assert "fw.map" in guest.run("devlink dev info")
    ps.guest.ping()


def test_a_broken_ring_is_made_anew(ps: Link) -> None:
    """A producer index beyond the ring stops it by itself."""
    producer = int(ps.guest.run(f"busybox devmem {TX_PRODUCER:#x}"), 16)
    ps.guest.run(f"busybox devmem {TX_PRODUCER:#x} 32 {(producer + 5000) & 0xFFFF:#x}")
    until(lambda: ps.guest.statistics()["restarts_tx_error"] == 1, "restart")
    ps.guest.ping()
    assert "a ring has stopped by itself: receive 0, transmit 2" in ps.guest.log()
    assert ps.guest.statistics()["restarts_failed"] == 0


def test_the_clock_is_set_stepped_and_tuned(ps: Link) -> None:
    guest = ps.guest

    def read() -> float:
        text = guest.run("phc_ctl eth0 get")
        return float(re.search(r"clock time is ([\d.]+)", text)[1])  # type: ignore[index]

    guest.run("phc_ctl eth0 set 1700000000")
    first = read()
    assert 0 <= first - 1_700_000_000 < 20
    guest.run("phc_ctl eth0 adj 5")
    assert 5 <= read() - first < 25
    guest.run("phc_ctl eth0 adj -- -0.25")
    assert "500000" in guest.run("cat /sys/class/ptp/ptp0/max_adjustment")
    guest.run("phc_ctl eth0 freq 250000")
    assert "250000" in guest.run("phc_ctl eth0 freq")
    guest.run("phc_ctl eth0 freq 0")


@pytest.mark.parametrize("step", [-5, -63, -1000])
def test_a_step_to_before_1970_is_refused(ps: Link, step: int) -> None:
    """The PTP core of Linux 6.1 and later looks first, then the driver. A step beyond a minute sets the clock."""
    guest = ps.guest
    guest.run("phc_ctl eth0 set 1")
    said = guest.try_run(f"phc_ctl eth0 adj -- {step}; phc_ctl eth0 get")[1]
    now = re.search(r"clock time is (-?[\d.]+)", said)
    assert now and 1 <= float(now[1]) < 60, said
    guest.run("phc_ctl eth0 set")


def test_pulses_go_on_when_the_clock_is_stepped(ps: Link) -> None:
    guest = ps.guest

    def runs() -> bool:
        return bool(int(guest.run(f"busybox devmem {PTP_STATUS:#x}"), 16) & PEROUT_RUNS)

    def pulses() -> int:
        return int(guest.run("cat /sys/class/pps/pps0/assert").partition("#")[2] or 0)

    guest.run(f"echo 1 >{CLOCK}/pps_enable && echo 0 0 0 0 100000000 >{CLOCK}/period")
    for step in ("adj 0.5", "adj 1000", "set 5"):
        assert runs()
        before = pulses()
        guest.run(f"phc_ctl eth0 {step}")
        until(lambda before=before: pulses() >= before + 2, "pulses")  # type: ignore[misc]
    assert runs()
    assert guest.try_run(f"echo 0 0 0 0 100 >{CLOCK}/period")[0] != 0  # shorter than the card can
    guest.run(f"echo 0 0 0 0 0 >{CLOCK}/period && echo 0 >{CLOCK}/pps_enable")
    assert not runs()
    guest.run(f"echo 0 1 >{CLOCK}/extts_enable && echo 0 0 >{CLOCK}/extts_enable")


class Heard:
    """Messages of PTP that have come from the card by its wire, from now on, and when."""

    def __init__(self, peer: Peer) -> None:
        self.peer, self.first = peer, len(peer.when)

    def of(self, kind: int) -> dict[int, tuple[PtpMessage, int]]:
        """By sequence number."""
        pairs = zip(self.peer.other[self.first :], self.peer.when[self.first :], strict=False)
        found = [(message, when) for frame, when in pairs if (message := parse(frame)) and message.kind == kind]
        return {message.sequence: (message, when) for message, when in found}

    def until(self, kind: int, count: int) -> None:
        until(lambda: len(self.of(kind)) >= count, f"{count} messages of kind {kind}")


@contextmanager
def ptp_server(guest: Guest) -> Iterator[None]:
    """A real ptp4l on the port, the only clock there is."""
    guest.run(f"cat >/tmp/server.cfg <<'END'\n{SERVER}END")
    guest.run("ptp4l -f /tmp/server.cfg -i eth0 -m >/tmp/ptp4l 2>&1 & echo $! >/tmp/pid")
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{error}; ptp4l: {guest.run('cat /tmp/ptp4l')}") from None
    finally:
        guest.run("kill $(cat /tmp/pid)")


def test_every_receive_filter_but_none_stamps_all_frames(ps: Link) -> None:
    """As the card stamps them all, behind whatever tags they are. Numbers are those of <linux/net_tstamp.h>."""
    none, all_frames, last = 0, 1, 14  # that hwstamp_ctl knows

    def settings(options: str) -> list[int]:
        """tx_type and rx_filter that are in force afterwards."""
        text = ps.guest.run(f"hwstamp_ctl -i eth0 {options}")
        return [int(it) for it in re.findall(r"(?:tx_type|rx_filter) (\d+)", text)][-2:]

    told = ps.guest.run("ethtool -T eth0").partition("Receive Filter Modes:")[2]
    assert re.findall(r"^\s+(\w[\w-]*)", told, re.MULTILINE) == ["none", "all"]
    for wanted in range(all_frames, last + 1):
        assert settings(f"-t 1 -r {wanted}") == [1, all_frames], wanted
    assert settings("") == [1, all_frames]
    assert settings(f"-t 0 -r {none}") == [0, none]


def test_timestamps_are_the_wires(ps: Link) -> None:
    """When Sync messages left and our Delay_Req came agrees with the wire, but for the constant that the clocks are
    apart."""
    guest, peer = ps.guest, ps.peer
    guest.run("phc_ctl eth0 freq 0")
    before = guest.statistics()
    heard, sent = Heard(peer), {}
    with ptp_server(guest):
        heard.until(FOLLOW_UP, 5)
        for number in range(5):
            sent[number] = peer.when[-1] + 400_000_000_000
            peer.wire.send(delay_req(peer.mac, number), sent[number])
            heard.until(DELAY_RESP, number + 1)
    syncs, followers, answers = heard.of(SYNC), heard.of(FOLLOW_UP), heard.of(DELAY_RESP)
    apart = [1000 * followers[n][0].time_ns - syncs[n][1] for n in sorted(syncs.keys() & followers.keys())]
    apart += [1000 * answers[n][0].time_ns - at - PREAMBLE_PS for n, at in sent.items()]
    assert max(apart) - min(apart) < EXACT_PS, apart
    after = guest.statistics()
    assert after["tx_stamps"] - before["tx_stamps"] >= len(followers)
    assert all(after[f"tx_stamps_{name}"] == before[f"tx_stamps_{name}"] for name in ("late", "unknown", "skipped"))


def test_a_lost_timestamp_is_given_up_and_a_late_one_is_nobodys(ps: Link) -> None:
    guest = ps.guest
    before = guest.statistics()
    heard = Heard(ps.peer)
    with ptp_server(guest):
        heard.until(FOLLOW_UP, 2)
        # Nobody looks at the card's timestamps for longer than the driver waits.
        guest.run(f"busybox devmem {INTERRUPT_ENABLE:#x} 32 0")
        until(lambda: guest.statistics()["tx_stamps_late"] > before["tx_stamps_late"], "frame that was given up")
        guest.run(f"busybox devmem {INTERRUPT_ENABLE:#x} 32 0xf")
        until(lambda: guest.statistics()["tx_stamps_unknown"] > before["tx_stamps_unknown"], "late timestamp")
        heard = Heard(ps.peer)
        heard.until(FOLLOW_UP, 2)
    guest.ping()
