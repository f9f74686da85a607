# SPDX-License-Identifier: Apache-2.0
"""What ethtool asks of the Linux driver and changes in it, and that frames go on after each."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_machine import Link, link
from meridian_machine.guest import HERE, PEER
from peer import IPV4, ethernet, udp

__all__ = ["link"]
pytestmark = pytest.mark.qemu


@pytest.fixture(autouse=True)
def frames_pass_afterwards(link: Link) -> Iterator[None]:
    yield
    link.guest.wait_link()
    link.guest.ping()
    link.guest.check()


def test_driver_and_card_are_named(link: Link) -> None:
    text = link.guest.run("ethtool -i eth0")
    assert "driver: meridian" in text
    assert re.search(r"firmware-version: map \d+\.\d+, build [0-9a-f]{8}", text)
    assert "bus-info: 0000:01:00.0" in text


def test_ethtool_shows_the_link_and_software_timestamps(link: Link) -> None:
    text = link.guest.run("ethtool eth0")
    assert "Link detected: yes" in text
    assert "Port: FIBRE" in text
    assert "software-transmit" in link.guest.run("ethtool -T eth0")


@pytest.mark.parametrize("wish", ["-a eth0", "-A eth0 rx on"])
def test_a_card_without_flow_control_says_so(link: Link, wish: str) -> None:
    """A value, even zero, would have programs expect the standard's counters of PAUSE frames, too."""
    status, text = link.guest.try_run(f"ethtool {wish}")
    assert status and "not supported" in text


def test_self_test_passes(link: Link) -> None:
    text = link.guest.run("ethtool -t eth0")
    assert "PASS" in text
    assert [line.split()[0] for line in text.splitlines() if re.search(r"\t 0$", line)] == [
        *("registers", "tables", "filter", "link")
    ]


def test_registers_are_dumped(link: Link) -> None:
    text = link.guest.run("ethtool -d eth0 raw on | od -An -v -tx4").split()
    assert text[0] == "4d52444e"
    assert text[16 + 2 + 14 + 16 + 4] == "1fd30000"


def test_rings_take_the_next_power_of_two(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -G eth0 rx 1000 tx 65")
    current = guest.run("ethtool -g eth0").split("Current")[1]
    assert re.search(r"RX:\s+1024", current)
    assert re.search(r"TX:\s+128", current)
    assert guest.try_run("ethtool -G eth0 rx 32")[0] != 0
    assert guest.try_run("ethtool -G eth0 tx 8192")[0] != 0
    guest.run("ethtool -G eth0 rx 4096 tx 4096")
    guest.run("ethtool -G eth0 rx 512 tx 512")


def test_channels_and_indirection_follow_each_other(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -L eth0 combined 1")
    assert "1 RX ring" in guest.run("ethtool -x eth0")
    assert guest.try_run("ethtool -L eth0 combined 3")[0] != 0
    guest.run("ethtool -L eth0 combined 2")
    guest.run("ethtool -X eth0 weight 1 3")
    assert guest.try_run("ethtool -L eth0 combined 1")[0] != 0, "queue 1 is in the table"
    guest.run("ethtool -X eth0 default")


def test_coalescing_is_what_the_card_can(link: Link) -> None:
    guest = link.guest
    guest.run("ethtool -C eth0 adaptive-rx off rx-usecs 52 rx-frames 30")
    text = guest.run("ethtool -c eth0")
    assert re.search(r"rx-usecs:\s+50\n", text)
    assert re.search(r"rx-frames:\s+32\n", text)
    assert "Adaptive RX: off" in text
    assert guest.try_run("ethtool -C eth0 rx-usecs 1000")[0] != 0
    guest.ping(3)
    guest.run("ethtool -C eth0 rx-usecs 0 rx-frames 0")
    guest.ping(3)
    guest.run("ethtool -C eth0 adaptive-rx on rx-usecs 5 rx-frames 64")


def send_flows(link: Link, count: int) -> None:
    to = link.guest.address()
    for flow in range(count):
        packet = udp(PEER, HERE, 1000 + flow, 9, bytes(30))
        link.peer.wire.send(ethernet(to, link.peer.mac, IPV4, packet))


def received(link: Link, before: dict[str, int], total: int) -> list[int]:
    """Frames that each queue has received since then, when there are so many."""
    names = ("rx0_packets", "rx1_packets")
    for _ in range(50):
        now = link.guest.statistics()
        counts = [now[name] - before[name] for name in names]
        if sum(counts) >= total:
            return counts
    raise AssertionError(f"{counts} of {total} frames")


def test_flows_are_spread_as_the_indirection_says(link: Link) -> None:
    guest = link.guest
    for setting, wanted in (("default", (8, 8)), ("weight 0 1", (0, 32)), ("weight 1 0", (32, 0))):
        guest.run(f"ethtool -X eth0 {setting}")
        before = guest.statistics()
        send_flows(link, 32)
        counts = received(link, before, 32)
        assert all(count >= least for count, least in zip(counts, wanted, strict=True)), (setting, counts)
    guest.run("ethtool -X eth0 default")


def test_hash_key_decides_too(link: Link) -> None:
    """With a key of zeros every hash is 0: one queue gets all."""
    guest = link.guest
    before_key = re.search(r"RSS hash key:\n(\S+)", guest.run("ethtool -x eth0"))
    assert before_key
    guest.run("ethtool -X eth0 hkey " + ":".join(["00"] * 40))
    before = guest.statistics()
    send_flows(link, 32)
    assert received(link, before, 32)[1] <= 2, "what else is on the wire"
    guest.run(f"ethtool -X eth0 hkey {before_key[1]}")
    assert before_key[1] in guest.run("ethtool -x eth0")


def test_standard_statistics_count_the_wire(link: Link) -> None:
    guest = link.guest

    def read() -> dict[str, int]:
        text = guest.run("ethtool -S eth0 --all-groups")
        return {name: int(value) for name, value in re.findall(r"(\S+): (\d+)", text)}

    before, links = read(), guest.run("cat /proc/net/dev")
    send_flows(link, 10)
    received(link, guest.statistics(), 0)
    link.peer.wire.send(ethernet(b"\xff" * 6, link.peer.mac, 0x88B5, bytes(1000)), bad_fcs=True)
    for _ in range(50):
        after = read()
        if after["eth-mac-FrameCheckSequenceErrors"] > before["eth-mac-FrameCheckSequenceErrors"]:
            break
    assert after["eth-mac-FrameCheckSequenceErrors"] == before["eth-mac-FrameCheckSequenceErrors"] + 1
    assert after["eth-mac-FramesReceivedOK"] >= before["eth-mac-FramesReceivedOK"] + 10
    sizes = "rx-rmon-etherStatsPkts65to127Octets"
    assert after[sizes] >= before[sizes] + 10
    guest.until("cat /sys/class/net/eth0/statistics/rx_crc_errors", "[1-9]")
    assert links != guest.run("cat /proc/net/dev")
