# SPDX-License-Identifier: Apache-2.0
"""What devlink tells of the Linux driver and does to it: names, parameters, reloads, health; with frames before and after."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from driver_machine import Link, linked, stop_transmit
from meridian_machine import Hardware, tools
from meridian_machine.guest import HERE, PF_DEVICE

pytestmark = pytest.mark.qemu
DEVICE = "pci/0000:01:00.0"
FLOOD = "/run/flood"  # what ping says
ANSWERS = 20


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    # A test writes registers behind the driver's back.
    with linked(tools.SUITES[0], hardware=Hardware(kernel="iomem=relaxed")) as it:
        yield it


@pytest.fixture(autouse=True)
def frames_pass_afterwards(link: Link) -> Iterator[None]:
    link.guest.run(f"ip address replace {HERE}/24 dev eth0 && ip link set eth0 up")
    link.guest.wait_link()
    yield
    link.guest.ping()
    link.guest.check()


def reload(link: Link, options: str = "") -> None:
    """A reload makes the interface anew, without its address."""
    link.guest.run(f"devlink dev reload {DEVICE} {options}")
    link.guest.run(f"ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
    link.guest.wait_link()


def counts(link: Link, reporter: str) -> tuple[str, int, int]:
    """State of a reporter, and how many errors and recoveries it had."""
    text = link.guest.run(f"devlink health show {DEVICE} reporter {reporter}")
    found = re.search(r"state (\w+) error (\d+) recover (\d+)", text)
    assert found, text
    return found[1], int(found[2]), int(found[3])


def wait_counts(link: Link, reporter: str, state: str, errors: int, recovered: int) -> None:
    link.guest.until(
        f"devlink health show {DEVICE} reporter {reporter}", f"state {state} error {errors} recover {recovered}"
    )


def test_driver_bitstream_and_register_map_are_named(link: Link) -> None:
    text = link.guest.run(f"devlink dev info {DEVICE}")
    told = link.guest.run("ethtool -i eth0")
    named = re.search(r"map (\d+\.\d+), build ([0-9a-f]{8})", told)
    assert named
    assert "driver meridian" in text
    assert re.search(r"fw \d{8}\.\d{6}$", text, re.MULTILINE)
    assert f"fw.git {named[2]}" in text
    assert f"fw.registers {named[1]}" in text


def port_of(link: Link, device: str) -> str:
    """Of the devlink's only port, which has the number of the card's."""
    lines = [line for line in link.guest.run("devlink port show").splitlines() if line.startswith(device)]
    assert len(lines) == 1, lines
    return lines[0]


def test_a_pf_has_the_cards_port_and_a_vf_a_virtual_one(link: Link) -> None:
    guest = link.guest
    for again in (False, True):
        if again:
            reload(link)
        assert re.search(rf"^{DEVICE}/0: type eth netdev eth0 flavour physical port 0\b", port_of(link, DEVICE))
        assert guest.run("cat /sys/class/net/eth0/phys_port_name").strip() == "p0"
    guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs")
    vf = f"pci/{guest.run(f'basename $(readlink {PF_DEVICE}/virtfn0)').strip()}"
    assert re.search(r"type eth netdev eth1 flavour virtual\b", port_of(link, vf))
    assert guest.try_run("cat /sys/class/net/eth1/phys_port_name")[0] != 0
    # Without ports of VFs there is nothing that a rate object could be of.
    assert guest.run("devlink port function rate show").strip() == ""
    guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")
    assert vf not in guest.run("devlink port show")


def test_a_reload_starts_all_anew(link: Link) -> None:
    link.guest.run("ethtool -G eth0 rx 64")
    reload(link)
    assert re.search(r"RX:\s+512", link.guest.run("ethtool -g eth0").split("Current")[1])
    reload(link, "action driver_reinit")
    assert link.guest.try_run(f"devlink dev reload {DEVICE} action fw_activate")[0] != 0


def wait_for_answers(link: Link) -> None:
    """Until the other end has answered a flood of requests some more times."""

    def received() -> int:
        return int(link.guest.run("cat /sys/class/net/eth0/statistics/rx_packets"))

    before, deadline = received(), link.guest.deadline(30)
    while received() < before + ANSWERS:
        assert time.monotonic() < deadline, f"{received() - before} answers in 30 s: {link.guest.run(f'tail {FLOOD}')}"
        time.sleep(0.1)


def test_traffic_goes_on_after_each_reload(link: Link) -> None:
    guest = link.guest
    guest.run(f"ping -q -f -s 1400 {link.peer.address} >{FLOOD} 2>&1 & echo $! >{FLOOD}.pid")
    for _ in range(3):
        wait_for_answers(link)
        reload(link)
    wait_for_answers(link)
    guest.run(f"kill -INT $(cat {FLOOD}.pid)")
    text = guest.until(f"cat {FLOOD}", r"\d+ received")
    assert int(re.search(r"(\d+) received", text)[1]) >= 4 * ANSWERS, text


def test_a_limit_on_vectors_comes_with_a_reload(link: Link) -> None:
    guest = link.guest
    guest.run(f"devlink dev param set {DEVICE} name msix_vec_per_pf_max value 2 cmode driverinit")
    assert "eth0-shared" not in guest.run("cat /proc/interrupts")
    reload(link)
    assert re.search(r"Combined:\s+2", guest.run("ethtool -l eth0").split("Current")[1])
    assert guest.run("cat /proc/interrupts").count("eth0-") == 1, "both pairs have one vector"
    status, text = guest.try_run(f"devlink dev param set {DEVICE} name msix_vec_per_pf_max value 1 cmode driverinit")
    assert status != 0 and "two vectors at least" in text
    guest.run(f"devlink dev param set {DEVICE} name msix_vec_per_pf_max value 8 cmode driverinit")
    reload(link)
    assert guest.run("cat /proc/interrupts").count("eth0-") == 2


def test_vfs_may_be_forbidden_and_forbid_a_reload(link: Link) -> None:
    guest = link.guest
    guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs")
    vf = guest.run(f"basename $(readlink {PF_DEVICE}/virtfn0)").strip()
    text = guest.run(f"devlink dev info pci/{vf}")
    assert "driver meridian" in text and "fw.registers" in text
    assert "reporter qdma" not in guest.run(f"devlink health show pci/{vf}")
    status, text = guest.try_run(f"devlink dev reload {DEVICE}")
    assert status != 0 and "there are VFs" in text
    guest.run(f"devlink dev reload pci/{vf}")
    guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")

    status, text = guest.try_run(f"devlink dev param set {DEVICE} name vf_message_rate value 0 cmode driverinit")
    assert status != 0 and "1 to 10000" in text
    guest.run(f"devlink dev param set {DEVICE} name enable_sriov value false cmode driverinit")
    reload(link)
    assert guest.try_run(f"echo 1 >{PF_DEVICE}/sriov_numvfs")[0] != 0
    guest.run(f"devlink dev param set {DEVICE} name enable_sriov value true cmode driverinit")
    reload(link)
    guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && echo 0 >{PF_DEVICE}/sriov_numvfs")


@pytest.mark.parametrize("reporter", ["tx", "rx", "qdma"])
def test_a_report_leads_to_a_dump_and_a_recovery(link: Link, reporter: str) -> None:
    guest = link.guest
    state, errors, recovered = counts(link, reporter)
    assert state == "healthy"
    for _ in range(3):
        guest.run(f"devlink health test {DEVICE} reporter {reporter}")
        errors, recovered = errors + 1, recovered + 1
        wait_counts(link, reporter, "healthy", errors, recovered)
    dump = guest.run(f"devlink health dump show {DEVICE} reporter {reporter}")
    assert ("c2h_fatal" if reporter == "qdma" else "pidx") in dump
    assert guest.run(f"devlink health diagnose {DEVICE} reporter {reporter}").split() != []
    guest.run(f"devlink health dump clear {DEVICE} reporter {reporter}")
    guest.wait_link()


def stop_queues(link: Link) -> None:
    """The card takes no frames any more, which the driver does not know."""
    stop_transmit(link.guest)
    # More than BQL lets wait: the watchdog looks at queues only that are stopped.
    assert link.guest.try_run("ping -c 30 -i 0.02 -s 1400 -W 1 10.44.0.1")[0] != 0


def test_a_queue_that_stands_still_is_told_and_repaired_when_wanted(link: Link) -> None:
    guest = link.guest
    _, errors, recovered = counts(link, "tx")
    guest.run(f"devlink health set {DEVICE} reporter tx auto_recover false")
    stop_queues(link)
    # Linux's watchdog and the driver's own look may each tell of it before devlink is asked.
    guest.until(f"devlink health show {DEVICE} reporter tx", f"state error error [0-9]+ recover {recovered}")
    assert counts(link, "tx")[1] > errors
    assert guest.try_run("ping -c 1 -W 1 10.44.0.1")[0] != 0
    assert re.search(r"pidx: [1-9]", guest.run(f"devlink health dump show {DEVICE} reporter tx"))
    guest.run(f"devlink health recover {DEVICE} reporter tx")
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 30)
    guest.run(f"devlink health set {DEVICE} reporter tx auto_recover true")
    assert counts(link, "tx")[0] == "healthy"

    stop_queues(link)
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 60)
    assert counts(link, "tx")[0] == "healthy"
    guest.run("dmesg -C")  # with it goes the watchdog's own warning, which was wanted


def test_queues_that_start_anew_have_no_fault(link: Link) -> None:
    """Whoever started them; and their next fault is repaired, not left for the one before."""
    guest = link.guest
    guest.run(f"devlink health set {DEVICE} reporter tx auto_recover false; devlink health test {DEVICE} reporter tx")
    _, errors, recovered = counts(link, "tx")
    wait_counts(link, "tx", "error", errors, recovered)
    guest.run("ip link set eth0 down; ip link set eth0 up")
    wait_counts(link, "tx", "healthy", errors, recovered)
    guest.run(f"devlink health set {DEVICE} reporter tx auto_recover true; devlink health test {DEVICE} reporter tx")
    wait_counts(link, "tx", "healthy", errors + 1, recovered + 1)
    guest.wait_link()


def test_a_fault_is_repaired_though_one_before_was_left(link: Link) -> None:
    """The reporter still has the first error, so devlink refuses the second report, and the driver repairs it itself."""
    guest = link.guest
    guest.run("dmesg -C")
    _, errors, recovered = counts(link, "tx")
    guest.run(f"devlink health set {DEVICE} reporter tx auto_recover false; devlink health test {DEVICE} reporter tx")
    wait_counts(link, "tx", "error", errors + 1, recovered)
    guest.run(f"devlink health set {DEVICE} reporter tx auto_recover true")
    wait_counts(link, "tx", "error", errors + 1, recovered)
    stop_transmit(guest)
    # The queues may be started again before the last of these.
    guest.try_run("ping -c 30 -i 0.02 -s 1400 -W 1 10.44.0.1")
    guest.until("dmesg", "transmit queue [01] stands still")
    guest.until("ping -c 1 -W 1 10.44.0.1", "1 received", 60)
    guest.until(f"devlink health show {DEVICE} reporter tx", "state healthy")
    guest.run("dmesg -C")  # with it goes the watchdog's own warning, which was wanted
