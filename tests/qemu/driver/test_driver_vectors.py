# SPDX-License-Identifier: Apache-2.0
"""A PF with fewer vectors than queue pairs: the pairs share them, and rings tell whose an interrupt is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from driver_function import Function
from driver_machine import Link, linked, tool
from meridian_machine import Hardware, tools
from meridian_machine.guest import HERE, PF_DEVICE
from netdev_family import NAPI, NAPI_GET, TOOL, ask

pytestmark = pytest.mark.qemu
DEVICE = "pci/0000:01:00.0"
CPUS = 4
COMMAND = 0x844
DATA = 0x804
#: Bits of the command: what is read, and the kind of context.
READ_RING = 2 << 5 | 8 << 1
RINGS = 8


def share(link: Link, vectors: int) -> None:
    """The PF gets so many vectors, of which the first is for errors, and its interface an address."""
    guest = link.guest
    guest.run(f"devlink dev param set {DEVICE} name msix_vec_per_pf_max value {vectors} cmode driverinit")
    guest.run(f"devlink dev reload {DEVICE}")
    guest.run(f"ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    guest.wait_link()


@pytest.fixture(scope="module", params=[2, 3], ids=["one for all", "two pairs each"])
def link(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Link]:
    files = {TOOL.stem: tool(tmp_path_factory.mktemp("tools"), TOOL)}
    # A test reads registers behind the driver's back.
    with linked(tools.SUITES[0], files, Hardware(cpus=CPUS, kernel="iomem=relaxed")) as it:
        share(it, request.param)
        yield it


@pytest.fixture(autouse=True)
def frames_pass_afterwards(link: Link) -> Iterator[None]:
    yield
    link.guest.ping()
    link.guest.check()


def interrupts(link: Link) -> dict[str, int]:
    """How many each interrupt of the queues has had, by its name."""
    rows = re.findall(r"^ *\d+:((?: +\d+)+).* (eth0-\S+)$", link.guest.run("cat /proc/interrupts"), re.MULTILINE)
    return {name: sum(int(count) for count in counts.split()) for counts, name in rows}


def received(link: Link) -> list[int]:
    """Frames of each receive queue."""
    found = re.findall(r"rx(\d+)_packets: (\d+)", link.guest.run("ethtool -S eth0"))
    return [int(count) for _, count in sorted(found, key=lambda one: int(one[0]))]


def valid_rings(link: Link) -> list[int]:
    """The first of the card's interrupt rings that have a context, behind the driver's back."""
    bar0 = link.guest.bar(0)
    script = "".join(
        f"busybox devmem {bar0 + COMMAND:#x} 32 {ring << 7 | READ_RING:#x}; busybox devmem {bar0 + DATA:#x}\n"
        for ring in range(RINGS)
    )
    words = [int(word, 16) for word in link.guest.run(script).split()]
    return [ring for ring, word in enumerate(words) if word & 1]


def test_all_queue_pairs_are_there_and_share_the_vectors(link: Link) -> None:
    assert re.search(rf"Combined:\s+{CPUS}", link.guest.run("ethtool -l eth0").split("Current")[1])
    shared = interrupts(link)
    assert set(shared) == {f"eth0-shared-{number}" for number in range(len(valid_rings(link)))}
    irqs = {napi.get("irq") for napi in ask(Function(link, False), NAPI_GET, NAPI)}
    assert len(irqs) == len(shared)
    assert len(ask(Function(link, False), NAPI_GET, NAPI)) == CPUS


def test_each_pair_is_told_of_its_frames(link: Link) -> None:
    for queue in range(CPUS):
        link.guest.run("ethtool -X eth0 weight " + " ".join(str(int(queue == other)) for other in range(CPUS)))
        before, shared = received(link), interrupts(link)
        link.guest.ping()
        counted = [now - then for now, then in zip(received(link), before, strict=True)]
        assert counted[queue] >= 2 and sum(counted) == counted[queue]
        now = interrupts(link)
        assert now[f"eth0-shared-{queue % len(now)}"] > shared[f"eth0-shared-{queue % len(now)}"]
    link.guest.run("ethtool -X eth0 default")


def test_a_ring_begins_anew_after_its_last_entry(link: Link) -> None:
    # The ring has 512 entries; a moderated queue gives fewer than one a frame.
    link.guest.run("ethtool -C eth0 adaptive-rx off adaptive-tx off rx-usecs 0 rx-frames 1 tx-usecs 0 tx-frames 1")
    count = sum(interrupts(link).values())
    for _ in range(20):
        link.guest.run(f"timeout 20 ping -q -c 200 -i 0.002 -W 5 {link.peer.address}")
        if sum(interrupts(link).values()) - count > 1500:
            break
    assert sum(interrupts(link).values()) - count > 1500


def test_pairs_come_and_go_while_others_run(link: Link) -> None:
    link.guest.run(f"(timeout 60 ping -q -f -s 200 {link.peer.address} >/dev/null 2>&1 &)")
    for pairs in (1, 3, 2, CPUS):
        link.guest.run(f"ethtool -L eth0 combined {pairs}")
        link.guest.ping()
    link.guest.run("pkill -x ping; true")
    link.guest.run("ip link set eth0 down && ip link set eth0 up")
    link.guest.wait_link()
    link.guest.ping()
    link.guest.run("ethtool -G eth0 rx 1024")


def test_the_processors_that_a_user_gives_a_shared_interrupt_stay(link: Link) -> None:
    found = re.search(r"^ *(\d+):.* eth0-shared-0$", link.guest.run("cat /proc/interrupts"), re.MULTILINE)
    assert found
    affinity = f"/proc/irq/{found[1]}/smp_affinity"
    link.guest.run(f"echo 8 >{affinity} && sleep 1 && ip link set eth0 down && ip link set eth0 up")
    link.guest.wait_link()
    assert int(link.guest.run(f"cat {affinity}"), 16) == 8


def test_a_reset_makes_the_rings_anew(link: Link) -> None:
    before = valid_rings(link)
    assert len(before) == len(interrupts(link))
    link.guest.run(f"echo 1 >{PF_DEVICE}/reset")
    link.guest.wait_link()
    link.guest.ping()
    assert valid_rings(link) == before


def test_no_interrupt_ring_is_left_on_the_card_if_each_pair_has_a_vector(link: Link) -> None:
    share(link, 8)
    assert set(interrupts(link)) == {f"eth0-{number}" for number in range(CPUS)}
    assert valid_rings(link) == []
