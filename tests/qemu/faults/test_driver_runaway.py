# SPDX-License-Identifier: Apache-2.0
"""A card that neither ends a queue nor minds its Bus Master bit, behind an IOMMU: what it has stays mapped, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked, tool
from faulty_driver import faulty, parameter
from meridian_machine import Hardware, tools
from meridian_machine.guest import Guest
from test_driver_stops import storm

pytestmark = [pytest.mark.qemu, pytest.mark.leaks]
XSK_TOOL = Path(__file__).parents[1] / "xdp" / "xsk_tool.c"
STUBBORN, STUCK, UNSURE = (parameter(name) for name in ("stubborn", "stuck", "unsure"))
TRACING = "/sys/kernel/tracing"
MEMORY_PAGES, OTHER_PAGES = 1024, 256  # of the tool's socket; what else may come or go meanwhile


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """With one queue pair."""
    files = {XSK_TOOL.stem: tool(tmp_path_factory.mktemp("tools"), XSK_TOOL)}
    hardware = Hardware(memory=1024, iommu=True, kernel="iomem=relaxed")
    with faulty() as driver, linked(tools.SUITES[0], files, hardware, driver=driver) as it:
        it.guest.run(f"echo 1 >{STUBBORN}")
        it.guest.run("ethtool -L eth0 combined 1")
        it.guest.wait_link()
        yield it


@pytest.fixture(autouse=True)
def the_port_comes_back(link: Link) -> Iterator[None]:
    yield
    link.guest.run(f"echo 0 >{UNSURE}; echo 0 >{STUCK}; ip link set eth0 up")
    link.guest.wait_link()
    link.guest.ping()
    link.guest.check()


def begin_socket(link: Link) -> None:
    link.guest.run("/run/twin/xsk_tool eth0 0 zerocopy >/tmp/xsk 2>&1 & echo $! >/tmp/xsk.pid")


def end_socket(link: Link) -> None:
    link.guest.run("kill $(cat /tmp/xsk.pid); while [ -e /proc/$(cat /tmp/xsk.pid) ]; do sleep 0.05; done")


def orphans(guest: Guest) -> int:
    """Pages that were anonymous memory of processes, and are neither anybody's now nor free."""
    text = guest.run("echo 1 >/proc/sys/vm/stat_refresh; cat /proc/vmstat")
    count = {name: int(value) for name, value in (line.split() for line in text.splitlines())}
    listed = count["nr_active_anon"] + count["nr_inactive_anon"] + count["nr_isolated_anon"]
    return listed - count["nr_anon_pages"] - count["nr_shmem"]


def is_kept(link: Link, before: int) -> None:
    """before: orphans() without the socket. Linux frees a socket's memory a moment after its process has ended."""
    log = link.guest.run("sleep 1; dmesg")
    assert "Bus Master bit stays set" in log, log
    assert orphans(link.guest) - before > MEMORY_PAGES - OTHER_PAGES, "the socket's pages are somebody else's"


def test_a_socket_goes_and_its_memory_stays(link: Link) -> None:
    """The card has buffers there, and writes to them still."""
    before = orphans(link.guest)
    begin_socket(link)
    link.guest.until("cat /tmp/xsk", "ready")
    link.guest.wait_link()
    link.guest.run(f"dmesg -C; echo 1 >{STUCK}")
    end_socket(link)
    is_kept(link, before)
    storm(link, 0, 0)
    log = link.guest.run("dmesg")
    assert "DMAR: [DMA" not in log, log


def frees(link: Link, count: str) -> int:
    """How often a socket that comes has had memory of rings freed; count: a command that ends the watch."""
    guest = link.guest
    guest.run(
        f"mountpoint -q {TRACING} || mount -t tracefs tracefs {TRACING}\n"
        f"echo 'p:freed dma_free_attrs' >{TRACING}/kprobe_events; echo >{TRACING}/trace\n"
        f"echo 1 >{TRACING}/events/kprobes/freed/enable"
    )
    begin_socket(link)
    guest.until(count, "yes")
    return int(
        guest.run(
            f"echo 0 >{TRACING}/events/kprobes/freed/enable; grep -c 'xsk_tool.* freed:' {TRACING}/trace || true\n"
            f"echo >{TRACING}/kprobe_events"
        )
    )


def test_rings_that_a_queue_has_for_a_moment_stay(link: Link) -> None:
    """The queue does not start with a socket's memory, and does not end with it either; nobody says what it has of it."""
    before = orphans(link.guest)
    assert frees(link, "grep -q ready /tmp/xsk && echo yes") > 0, "those that the queue had before"
    end_socket(link)
    link.guest.wait_link()
    link.guest.run(f"dmesg -C; echo 1 >{UNSURE}")
    assert frees(link, "grep -q bind: /tmp/xsk && echo yes") == 0
    is_kept(link, before)


def test_rings_that_the_card_never_had_are_freed(link: Link) -> None:
    """The queue does not even stop, to start with a socket's memory."""
    link.guest.run(f"dmesg -C; echo 1 >{STUCK}")
    assert frees(link, "grep -q bind: /tmp/xsk && echo yes") > 0
    assert "Bus Master bit stays set" in link.guest.run("dmesg")
