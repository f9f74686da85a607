# SPDX-License-Identifier: Apache-2.0
"""The loops of the ports, as the driver and meridian-selftest test them, on a card with two ports; and its pattern."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from driver_machine import XDP_TOOL, changed, running, tool
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE
from meridian_twin import Ps
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in
from selftest_bench import SECONDS, Bench, plug
from test_pattern import ARM, DEVICE, FAILED, FLIPPED, GOOD, PLANTED, good

pytestmark = [pytest.mark.qemu, pytest.mark.long]
ROUND = r"eth{0}: self-test: port loops: (\d+) bytes in (\d+) frames of 60 to 9596 bytes went round port {0} \({1}\) in \d+ ms, all good"
NEAR = "near-pcs, near-pma"
LEFT_OUT = (
    "self-test: port loops: they are left out, as the card's ARM side uses port 0: have its interface set down there"
)
#: In BAR2, of port 0, and how far those of port 1 are behind.
PORT, TEST, LANE = 0x102000, 0x106000, 0x107000
STRIDE = {PORT: 0x1000, TEST: 0x400, LANE: 0x400}
HOST_ENABLE, MODE, STATUS, LOOPBACK = 4, 4, 0x40, 0
RUNS = 7  # mode, while the driver tests


@contextmanager
def machine(folder: Path) -> Iterator[Bench]:
    control, wire = folder / "control", folder / "wire"
    with ExitStack() as stack:
        setting = Setting(
            suite=tools.SUITES[0],
            hardware=Hardware(device="pfs=2", kernel="iomem=relaxed"),
            ports=2,
            shell=("--self-test", "true"),
            wires=[f"1=socket:path={wire}"],
            card_options=("--control", str(control)),
            # One module for all tests of the self-test block.
            driver=stack.enter_context(changed(*PLANTED)),
        )
        twin = stack.enter_context(Twin(setting, folder))
        twin.host.files["xdp_tool"] = tool(folder, XDP_TOOL)
        control_socket = stack.enter_context(Control(control))
        stack.enter_context(plug(wire))
        guest = stack.enter_context(running(twin, watched=False))
        guest.run("ip link set eth1 up")
        yield Bench(twin, guest, control_socket)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with machine(tmp_path_factory.mktemp("loops")) as bench:
        yield bench


def register(bench: Bench, page: int, offset: int, port: int = 0) -> int:
    """A word of a port's page, which the machine lets programs read."""
    bar2 = int(bench.guest.run("sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource").split()[0], 16)
    return int(bench.guest.run(f"busybox devmem {bar2 + page + STRIDE[page] * port + offset:#x}").strip(), 16)


def rests(bench: Bench) -> None:
    """Nothing is left of a test: of its settings, of the loopbacks, and of what it has taken from the host."""
    for port in range(2):
        assert register(bench, TEST, MODE, port) == 0 and register(bench, TEST, STATUS, port) & 7 == 0
        assert register(bench, LANE, LOOPBACK, port) == 0
        assert register(bench, PORT, HOST_ENABLE, port) == 3
    for interface in ("eth0", "eth1"):
        bench.guest.until(f"cat /sys/class/net/{interface}/carrier", "^1")


def put_back(bench: Bench) -> None:
    """And frames pass."""
    rests(bench)
    bench.guest.ping()


@pytest.fixture
def well(bench: Bench) -> Iterator[Bench]:
    bench.guest.run("dmesg -C")
    yield bench
    for port in range(2):
        bench.control.ask("transceiver", port=port, damage=0, near_locks=True)
    put_back(bench)
    bench.guest.check()


def offline(bench: Bench, interface: str = "eth0", status: int = 0, kind: str = "offline") -> tuple[str, str]:
    """What ethtool and what the driver say."""
    ended, text = bench.guest.try_run(f"ethtool -t {interface} {kind}", SECONDS)
    said = bench.guest.run("dmesg | grep self-test: || true")
    assert ended == status, (text, said, bench.guest.log())
    return text, said


def in_the_middle(bench: Bench, then: str, times: int = 1) -> None:
    """A command of the machine, once frames go round port 0. times: of the test, one after another, for who comes late.

    The machine itself looks, as a look from outside takes as long as the test.
    """
    bar2 = int(bench.guest.run("sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource").split()[0], 16)
    bench.guest.run(
        f"(for i in $(seq {times}); do ethtool -t eth0 offline; done) >/run/offline 2>&1 & echo $! >/run/offline.pid\n"
        f"timeout 60 sh -c 'until busybox devmem {bar2 + TEST + MODE:#x} | grep -q 7$; do :; done' && {then}",
        SECONDS,
    )


def wait_for_end(bench: Bench) -> None:
    bench.guest.run("while [ -e /proc/$(cat /run/offline.pid) ]; do sleep 0.05; done", SECONDS)


def test_frames_come_back_whole_in_the_loops_of_both_ports(well: Bench) -> None:
    for port in range(2):
        text, said = offline(well, f"eth{port}")
        assert re.search(r"port_loops\s+0$", text, re.MULTILINE), text
        found = re.search(ROUND.format(port, NEAR), said)
        assert found and int(found[2]) >= 2 * 64 and int(found[1]) > 60 * int(found[2]), said


def test_meridian_selftest_reports_the_loops_and_the_pattern_of_each_port(well: Bench) -> None:
    """Of each port; and of the pattern of both ports' PFs, one after the other."""
    lines = well.run("--quick --only dma-pattern --only port-loops --loop-plugs 1")
    result, said = lines["port-loops"]
    assert result == "PASS", lines
    for port, loops in ((0, NEAR), (1, f"{NEAR}, external")):
        assert re.search(rf"port {port} \d+ bytes in \d+ frames of 60 to 9596 bytes \({loops}\) in \d+ ms", said), said
    result, said = lines["dma-pattern"]
    assert result == "PASS" and re.search(r"eth0 \d+ bytes .*eth1 \d+ bytes ", said), lines
    said = well.run("--quick --no-disturb --only port-loops")["port-loops"]
    assert said == ("SKIP", "it takes each port from the host for some seconds: run it without --no-disturb")


def test_patterns_and_loops_of_both_ports_at_once_are_good(well: Bench) -> None:
    text = well.guest.run(
        "ethtool -t eth0 offline >/run/first 2>&1 & ethtool -t eth1 offline; echo status $?; wait $!; echo status $?",
        SECONDS,
    )
    assert re.findall(r"status (\d+)", text) == ["0", "0"], text
    said = well.guest.run("dmesg")
    assert len(re.findall(GOOD, said)) == 2
    assert all(re.search(ROUND.format(port, NEAR), said) for port in range(2)), said


def test_a_wrong_byte_in_the_loop_fails_the_line_of_the_loops_alone(well: Bench) -> None:
    well.control.ask("transceiver", port=1, damage=1_000_000)
    well.fails_in(
        "port-loops",
        r"eth1: \d+ of 64 frames in the loop near-pcs of port 1 had a wrong FCS\. Look at clocks and supply",
    )
    well.control.ask("transceiver", port=1, damage=1)
    text, said = offline(well, "eth1", status=FAILED)
    assert re.search(r"port_loops\s+74$", text, re.MULTILINE), text
    assert "1 of 64 frames in the loop near-pcs of port 1 had a wrong FCS" in said


def test_a_port_whose_loopback_finds_no_lock_fails_until_it_does(well: Bench) -> None:
    well.control.ask("transceiver", port=0, near_locks=False)
    text, said = offline(well, status=FAILED)
    assert re.search(r"port_loops\s+5$", text, re.MULTILINE), text
    assert "port 0 has no link in the loopback near-pcs: look at the board's reference clock" in said
    well.guest.until(f"devlink health show {DEVICE} reporter selftest", "state error")
    well.control.ask("transceiver", port=0, near_locks=True)
    offline(well)
    well.guest.until(f"devlink health show {DEVICE} reporter selftest", "state healthy")


def test_frames_come_back_through_a_loop_plug_and_a_missing_one_fails(well: Bench) -> None:
    text, said = offline(well, "eth1", kind="external_lb")
    assert re.search(ROUND.format(1, f"{NEAR}, external"), said), said
    assert "External loopback test was executed" in text
    text, said = offline(well, "eth0", status=FAILED, kind="external_lb")
    assert re.search(r"0 came back in the loop external of port 0: clean or change the loop plug", said), said


def test_the_loops_of_a_port_that_the_arm_side_uses_are_left_out(well: Bench) -> None:
    """The other port is tested. The receiver of the port is not touched."""
    with Ps.connect(well.twin.card.socket) as ps:
        port = ps.start(0, ARM)
        try:
            before = well.control.ask("stats")["ports"][0]["rx_resets"]
            text, said = offline(well, kind="external_lb")
            assert re.search(r"port_loops\s+0$", text, re.MULTILINE) and LEFT_OUT in said, said
            assert "External loopback test was not executed" in text
            result, words = well.run("--quick --only port-loops")["port-loops"]
            assert result == "PASS" and "port 1 " in words and "not tested: eth0: they are left out" in words, words
            assert well.control.ask("stats")["ports"][0]["rx_resets"] == before
        finally:
            port.reset()
            ps.card.set_ps_filter(0, False)  # the interface is down


def test_the_loops_are_left_out_when_the_arm_side_opens_the_port(well: Bench) -> None:
    """The driver gives the port back at once."""
    with Ps.connect(well.twin.card.socket) as ps:
        at = ps.card.regs.ps_address("PORT_TEST", "MODE", 0)
        well.guest.run("ethtool -t eth0 offline >/run/offline 2>&1 & echo $! >/run/offline.pid")
        end = deadline_in(SECONDS)
        while ps.card.read(at, "ps") != RUNS:
            assert time.monotonic() < end
        port = ps.start(0, ARM)
        try:
            wait_for_end(well)
            said = well.guest.run("dmesg")
            assert LEFT_OUT in said and not re.search(ROUND.format(0, NEAR), said), said
        finally:
            port.reset()
            ps.card.set_ps_filter(0, False)  # the interface is down


def test_a_signal_ends_the_loops(well: Bench) -> None:
    in_the_middle(well, "pkill -TERM -x ethtool")
    wait_for_end(well)
    assert "self-test: port loops: a signal has ended them" in well.guest.run("dmesg")


def test_a_reset_waits_until_the_loops_have_ended(well: Bench) -> None:
    in_the_middle(well, f"echo 1 >{PF_DEVICE}/reset")
    wait_for_end(well)
    assert re.search(ROUND.format(0, NEAR), well.guest.run("dmesg"))


def test_the_loops_are_not_run_while_somebody_else_tests_the_port(well: Bench) -> None:
    bar2 = int(well.guest.run("sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource").split()[0], 16)
    at = bar2 + LANE + LOOPBACK
    well.guest.run(f"busybox devmem {at:#x} 32 0x102")
    _, said = offline(well, status=FAILED)
    assert "somebody else tests port 0, or scans its eye: end that, then try again" in said
    assert register(well, LANE, LOOPBACK) == 2
    well.guest.run(f"busybox devmem {at:#x} 32 0")


def test_the_driver_keeps_a_port_closed_that_the_arm_side_has_in_loopback(well: Bench) -> None:
    """The driver leaves the port closed, whatever its interfaces do: frames of the host would come back."""
    host = ("PORT", "HOST_ENABLE")
    with Ps.connect(well.twin.card.socket) as ps:
        enable = ps.card.regs.ps_address(*host, 0)
        loopback = ps.card.regs.ps_address("TRANSCEIVER", "LOOPBACK", 0)
        ps.card.write(enable, 1, "ps")
        ps.card.write(loopback, 0x102, "ps")
        try:
            well.guest.run("sleep 2")
            assert ps.card.read(enable, "ps") == 1, "it looks four times a second"
            well.guest.run("ip link set eth0 down; ip link set eth0 up; sleep 2")
            assert ps.card.read(enable, "ps") == 0
        finally:
            ps.card.write(loopback, 0, "ps")
        well.guest.until("dmesg", "port 0 was closed to the host")
        assert ps.card.read(enable, "ps") == 3


def test_the_loops_pass_while_the_interface_is_down(well: Bench) -> None:
    """The loops need none; the pattern does."""
    well.guest.run("ip link set eth1 down")
    text, said = offline(well, "eth1", status=FAILED)
    assert re.search(r"port_loops\s+0$", text, re.MULTILINE) and re.search(ROUND.format(1, NEAR), said), text
    well.guest.run("ip link set eth1 up")


def test_a_vf_has_no_result_of_the_loops(well: Bench) -> None:
    well.guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs")
    well.guest.until("ls /sys/class/net", "eth2")
    _, text = well.guest.try_run("ethtool -t eth2 offline")
    well.guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")
    assert "port_loops" not in text and "dma_pattern" not in text, text


def test_a_recovery_that_leaves_the_failed_test_out_says_so(well: Bench) -> None:
    guest = well.guest
    guest.run(f"echo {FLIPPED} >/sys/module/meridian/parameters/planted")
    offline(well, status=FAILED)
    guest.until(f"devlink health show {DEVICE} reporter selftest", "state error")
    guest.run(": >/run/xdp; /run/twin/xdp_tool eth0 pass >/run/xdp 2>&1 & echo $! >/run/xdp.pid")
    guest.until("cat /run/xdp", "attached")
    status, said = guest.try_run(f"devlink health recover {DEVICE} reporter selftest", SECONDS)
    assert status and "a test that had failed was left out: see the kernel's log" in said, said
    guest.run("kill $(cat /run/xdp.pid); while [ -e /proc/$(cat /run/xdp.pid) ]; do sleep 0.05; done")
    guest.run(f"devlink health recover {DEVICE} reporter selftest", SECONDS)
    good(guest.run("dmesg"))
