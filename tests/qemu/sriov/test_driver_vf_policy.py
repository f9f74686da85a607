# SPDX-License-Identifier: Apache-2.0
"""What the administrator says of VFs, proven by frames: rates, link, VLAN, and switching inside the card."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from driver_machine import NET_LOAD, Link, linked, tool, vfs_apart
from meridian_machine import tools
from meridian_machine.guest import Guest

# Two functions do not fill the line over a slow PCIe link.
pytestmark = [pytest.mark.qemu, pytest.mark.quick, pytest.mark.pcie_link("fast")]
NOBODY = bytes.fromhex("029900000099")
PAUSE, LLDP = bytes.fromhex("0180c2000001"), bytes.fromhex("0180c200000e")


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """Two VFs, each in a network namespace."""
    files = {"net_load": tool(tmp_path_factory.mktemp("tools"), NET_LOAD)}
    with linked(tools.SUITES[0], files) as it, vfs_apart(it.guest, 2):
        guest = it.guest
        for vf in (0, 1):
            guest.run(inside(vf, f"ip address add 10.44.0.{10 + vf}/24 dev eth{vf + 1}"))
            guest.run(inside(vf, f"ip link set eth{vf + 1} up"))
            carrier(guest, vf, up=True)
        yield it


def inside(vf: int, command: str) -> str:
    return f"ip netns exec vf{vf} {command}"


def carrier(guest: Guest, vf: int, up: bool) -> None:
    guest.until(inside(vf, f"ip link show eth{vf + 1}"), "LOWER_UP" if up else "NO-CARRIER")


def answered(guest: Guest, vf: int, address: str, count: int = 2) -> int:
    """How many answers come, up to count. ping sends more requests while answers are late, so more could come."""
    text = guest.try_run(inside(vf, f"ping -c {count} -i 0.1 -w 5 {address}"))[1]
    return min(count, int(re.search(r"(\d+) received", text)[1]))


def own(guest: Guest, vf: int) -> bytes:
    return guest.address(f"eth{vf + 1}", inside(vf, ""))


def test_vfs_and_pf_meet_inside_the_card(link: Link) -> None:
    first, second = own(link.guest, 0), own(link.guest, 1)
    assert answered(link.guest, 0, "10.44.0.11") == 2
    assert answered(link.guest, 1, "10.44.0.2") == 2
    on_wire = [frame for frame in link.peer.other if {frame[:6], frame[6:12]} == {first, second}]
    assert not on_wire, "what is for another VF was on the wire"
    assert answered(link.guest, 0, "10.44.0.1") == 2, "and the wire is there as before"


def test_in_vepa_mode_frames_between_vfs_go_to_the_switch_outside(link: Link) -> None:
    first, second = own(link.guest, 0), own(link.guest, 1)
    assert "hwmode VEB" in link.guest.run("bridge -d link show dev eth0")
    link.guest.run("bridge link set dev eth0 hwmode vepa")
    assert "hwmode VEPA" in link.guest.run("bridge -d link show dev eth0")
    assert answered(link.guest, 0, "10.44.0.11") == 0
    assert any(frame[:6] == second and frame[6:12] == first for frame in link.peer.other)
    link.guest.run("bridge link set dev eth0 hwmode veb")
    assert answered(link.guest, 0, "10.44.0.11") == 2


@pytest.mark.parametrize("megabits", [1000, pytest.param(4000, marks=pytest.mark.long)])
def test_a_vf_keeps_its_maximum_rate_within_5_percent(link: Link, megabits: int) -> None:
    """In the card's time: the guest has all frames ready long before."""
    guest, peer, sender = link.guest, link.peer, own(link.guest, 0)
    guest.run(f"ip link set eth0 vf 0 max_tx_rate {megabits}")
    assert f"max_tx_rate {megabits}Mbps" in guest.run("ip link show eth0")
    burst = (16384 + megabits * 1e6 / 8 * 0.53e-3) / 1496  # frames that may go at once
    count = int(2 * burst) + 200
    start = len(peer.other)
    guest.run(inside(0, f"/run/twin/net_load send eth1 {NOBODY.hex(':')} 1500 {count} 1"), seconds=300)

    def seen() -> list[tuple[int, int]]:
        found = zip(peer.other[start:], peer.when[start:], strict=False)
        return [(when, len(frame)) for frame, when in found if frame[:6] == NOBODY and frame[6:12] == sender]

    deadline = guest.deadline(60)
    while len(seen()) < count and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(seen()) == count, f"{len(seen())} frames of {count} came"
    frames = seen()[int(1.5 * burst) :]
    picoseconds = frames[-1][0] - frames[0][0]
    found = 8e6 * sum(length for _, length in frames[1:]) / picoseconds
    assert abs(found - megabits) < 0.05 * megabits, f"{found:.0f} Mb/s, not {megabits}"
    guest.run("ip link set eth0 vf 0 max_tx_rate 0")


def seconds_a_frame(link: Link, megabits: int, count: int) -> float:
    """Of real time, behind the frames that may go at once: the simulated card is as fast as its machine."""
    guest, peer, sender = link.guest, link.peer, own(link.guest, 0)
    guest.run(f"ip link set eth0 vf 0 max_tx_rate {megabits}")
    start, first = len(peer.other), count // 2
    guest.run(inside(0, f"/run/twin/net_load send eth1 {NOBODY.hex(':')} 1500 {count} 1 >/dev/null 2>&1 &"))
    times: dict[int, float] = {}
    for wanted in (first, count):
        deadline = guest.deadline(120)
        while sum(frame[:6] == NOBODY and frame[6:12] == sender for frame in peer.other[start:]) < wanted:
            assert time.monotonic() < deadline, f"{wanted} frames of {count} did not come"
            time.sleep(0.05)
        times[wanted] = time.monotonic()
    guest.run("ip link set eth0 vf 0 max_tx_rate 0")
    return (times[count] - times[first]) / (count - first)


def stops(link: Link) -> int:
    """How often the driver has told of a queue."""
    return link.guest.log().count("stands still")


def slow_rate(link: Link) -> int:
    """Mb/s of a VF whose one queue sends 32 frames, of which the card tells at once, in some 11 seconds."""
    megabits = 400
    for _ in range(5):
        before = stops(link)
        seconds = 32 * seconds_a_frame(link, megabits, 100)
        if 7 < seconds < 18:
            break
        megabits = max(1, megabits // 8, min(8 * megabits, round(megabits * seconds / 11)))
    assert 7 < seconds < 18, f"32 frames take {seconds:.1f} s at {megabits} Mb/s: the machine's speed varies too much"
    assert stops(link) == before
    return megabits


def test_a_queue_that_is_slow_is_left_alone(link: Link) -> None:
    """The card is silent about it for more than the 5 s for which a queue may stand still."""
    slow_rate(link)


@pytest.mark.long
def test_queues_that_share_a_slow_rate_are_left_alone(link: Link) -> None:
    """The card is silent about each for more than 20 s."""
    guest, peer, sender = link.guest, link.peer, own(link.guest, 0)
    before, megabits = stops(link), slow_rate(link)
    guest.run(f"ip link set eth0 vf 0 max_tx_rate {megabits}")
    start, count = len(peer.other), 200
    guest.run(inside(0, f"/run/twin/net_load send eth1 {NOBODY.hex(':')} 1500 {count} 2 >/dev/null 2>&1 &"))
    deadline = guest.deadline(300)
    while sum(frame[:6] == NOBODY and frame[6:12] == sender for frame in peer.other[start:]) < count:
        assert time.monotonic() < deadline, f"{count} frames did not come"
        time.sleep(0.2)
    guest.run("ip link set eth0 vf 0 max_tx_rate 0")
    assert stops(link) == before


def test_a_minimum_holds_against_the_pf(link: Link) -> None:
    """Both send all they can; without the minimum each gets half of the line."""
    guest, peer, megabits = link.guest, link.peer, 18_000
    pf, vf = guest.address(), own(guest, 0)
    guest.run(f"ip link set eth0 vf 0 min_tx_rate {megabits}")
    start = len(peer.other)
    load = f"/run/twin/net_load send {{}} {NOBODY.hex(':')} 1500 3000 2"
    guest.run(f"{load.format('eth0')} & {inside(0, load.format('eth1'))}; wait", seconds=300)
    found = list(zip(peer.other[start:], peer.when[start:], strict=False))
    times = {who: [when for frame, when in found if frame[:6] == NOBODY and frame[6:12] == who] for who in (pf, vf)}
    # Where both have frames waiting, and after the buckets' burst.
    begin = max(each[300] for each in times.values())
    end = min(each[-300] for each in times.values())
    rates = {who: 8e6 * 1496 * sum(begin < when < end for when in each) / (end - begin) for who, each in times.items()}
    assert rates[pf] + rates[vf] > 22_000, "the line is full"
    assert rates[vf] > 0.95 * megabits
    guest.run("ip link set eth0 vf 0 min_tx_rate 0")


def test_rates_that_cannot_be_are_refused(link: Link) -> None:
    guest = link.guest
    for wrong in ("max_tx_rate 26000", "min_tx_rate 3000 max_tx_rate 2000", "min_tx_rate 26000"):
        status, text = guest.try_run(f"ip link set eth0 vf 1 {wrong}")
        assert status != 0, f"{wrong}: {text}"
    guest.run("ip link set eth0 vf 0 min_tx_rate 20000")
    assert guest.try_run("ip link set eth0 vf 1 min_tx_rate 6000")[0] != 0, "more than the port has"
    assert "other VFs have 20000 guaranteed" in guest.log()
    guest.run("ip link set eth0 vf 1 min_tx_rate 5000 && ip link set eth0 vf 0 min_tx_rate 0")
    guest.run("ip link set eth0 vf 1 min_tx_rate 0")
    assert answered(guest, 1, "10.44.0.1") == 2


def test_a_vf_has_the_link_that_it_is_told(link: Link) -> None:
    guest = link.guest
    guest.run("ip link set eth0 vf 0 state disable")
    carrier(guest, 0, up=False)
    assert "link-state disable" in guest.run("ip link show eth0")
    assert answered(guest, 1, "10.44.0.10") == 0, "a function without a link gets nothing"
    guest.run("ip link set eth0 vf 0 state enable")
    carrier(guest, 0, up=True)
    guest.run("ip link set eth0 vf 0 state auto")
    carrier(guest, 0, up=True)
    assert answered(guest, 1, "10.44.0.10") == 2


def test_the_speed_is_the_ports(link: Link) -> None:
    assert "Speed: 25000Mb/s" in link.guest.run("ethtool eth0")
    assert "Speed: 25000Mb/s" in link.guest.run(inside(0, "ethtool eth1"))


def test_a_vf_in_a_vlan_does_not_see_it(link: Link) -> None:
    guest, peer, sender = link.guest, link.peer, own(link.guest, 0)
    guest.run("ip link set eth0 vf 0 vlan 10 qos 3")
    assert "vlan 10, qos 3" in guest.run("ip link show eth0")
    guest.run("ip link add link eth0 name eth0.10 type vlan id 10")
    guest.run("ip address add 10.45.0.2/24 dev eth0.10 && ip link set eth0.10 up")
    guest.run(inside(0, "ip address add 10.45.0.10/24 dev eth1"))
    assert answered(guest, 0, "10.45.0.2") == 2, "the PF's interface of the VLAN, and back"
    guest.run(inside(0, "ethtool -K eth1 rxvlan off"))
    assert answered(guest, 0, "10.45.0.2") == 2, "though the VF has no tag taken out by its own wish"
    guest.run(inside(0, "ethtool -K eth1 rxvlan on"))
    start = len(peer.other)
    assert answered(guest, 0, "10.45.0.1") == 0
    tagged = [frame for frame in peer.other[start:] if frame[6:12] == sender]
    assert tagged and all(frame[12:16] == bytes.fromhex("8100600a") for frame in tagged), "all leave with the tag"
    assert answered(guest, 0, "10.44.0.11") == 0, "the other VF is not in the VLAN"
    assert answered(guest, 1, "10.44.0.10") == 0

    guest.run("ip link set eth0 vf 0 vlan 0 && ip link del eth0.10")
    guest.run(inside(0, "ip address del 10.45.0.10/24 dev eth1"))
    assert answered(guest, 0, "10.44.0.11") == 2
    assert answered(guest, 0, "10.44.0.1") == 2


def test_a_trusted_vf_in_a_vlan_gets_no_frames_of_others(link: Link) -> None:
    """Promiscuous and with all multicast, it gets what its VLAN has for it, and the wire's unknown without one."""
    guest, peer = link.guest, link.peer
    group = bytes.fromhex("01005e0b0c0d")

    def send(to: bytes, vid: int | None = None) -> None:
        tag = b"" if vid is None else b"\x81\x00" + vid.to_bytes(2, "big")
        peer.wire.send(to + peer.mac + tag + bytes.fromhex("88b5") + bytes(80))

    def received() -> int:
        return int(re.search(r"card_rx_delivered: (\d+)", guest.run(inside(0, "ethtool -S eth1")))[1])

    def strangers() -> int:
        """How many frames of those that are not for it come to the VF."""
        before = received()
        for vid in (None, 11):
            send(group, vid)
            send(NOBODY, vid)
        send(own(guest, 0), vlan)
        deadline = guest.deadline(30)
        while received() == before and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        return received() - before - 1

    vlan: int | None = 10
    guest.run("ip link set eth0 vf 0 trust on && ip link set eth0 vf 0 vlan 10")
    guest.run(inside(0, "ip link set eth1 promisc on && sleep 1"))
    assert strangers() == 0
    guest.run("ip link set eth0 vf 0 vlan 0")
    vlan = None
    assert strangers() >= 4, "in no VLAN it has them all"
    guest.run(inside(0, "ip link set eth1 promisc off"))
    guest.run("ip link set eth0 vf 0 trust off")


def test_vlans_that_cannot_be_are_refused(link: Link) -> None:
    for wrong in ("vlan 4095", "vlan 5 proto 802.1ad"):
        assert link.guest.try_run(f"ip link set eth0 vf 1 {wrong}")[0] != 0, wrong


def refused(guest: Guest, vf: int) -> int:
    text = guest.run(inside(vf, f"ethtool -S eth{vf + 1}"))
    return int(re.search(r"card_tx_control_frame: (\d+)", text)[1])


def dropped(guest: Guest, vf: int) -> int:
    text = guest.run(f"ip -s link show eth0 | grep -A 6 'vf {vf} '")
    return int(re.search(r"TX:.*\n +\d+ +\d+ +(\d+)", text)[1])


def test_a_vf_that_is_not_trusted_cannot_speak_to_the_switch(link: Link) -> None:
    """Neither PAUSE nor LLDP leaves; with trust both do, by the wire and to nobody inside."""
    guest, peer, sender = link.guest, link.peer, own(link.guest, 0)
    guest.run("ip link set eth0 vf 1 trust on")
    guest.run(inside(1, "ip link set eth2 allmulticast on"))

    def send(destination: bytes) -> list[bytes]:
        start = len(peer.other)
        guest.run(inside(0, f"/run/twin/net_load send eth1 {destination.hex(':')} 100 20 1"))
        guest.run(inside(0, f"/run/twin/net_load send eth1 {NOBODY.hex(':')} 100 1 1"))
        last = NOBODY + sender
        deadline = guest.deadline(60)
        while not any(frame[:12] == last for frame in peer.other[start:]) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert any(frame[:12] == last for frame in peer.other[start:]), "the frame behind them"
        return [frame for frame in peer.other[start:] if frame[:12] == destination + sender]

    for trusted in (False, True, False):
        guest.run(f"ip link set eth0 vf 0 trust {'on' if trusted else 'off'}")
        for destination in (PAUSE, LLDP):
            before, lost = refused(guest, 0), dropped(guest, 0)
            seen = int(guest.run(inside(1, "cat /sys/class/net/eth2/statistics/multicast")))
            assert len(send(destination)) == (20 if trusted else 0)
            assert refused(guest, 0) - before == dropped(guest, 0) - lost == (0 if trusted else 20)
            after = int(guest.run(inside(1, "cat /sys/class/net/eth2/statistics/multicast")))
            assert after - seen < 20, "they are for the other end of the wire alone"
    guest.run(inside(1, "ip link set eth2 allmulticast off"))
    guest.run("ip link set eth0 vf 1 trust off")
