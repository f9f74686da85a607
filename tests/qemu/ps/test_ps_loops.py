# SPDX-License-Identifier: Apache-2.0
"""The loops of the ports, as the driver of the card's ARM and meridian-selftest there test them, on a card with two ports.
Port 0 is up, and port 1 is down. The host's frames are dropped meanwhile, and what the host wants of a port holds.
meridian-eye measures a port there, too."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from host_load import host_load
from meridian_machine import PsHardware, Setting, Twin
from meridian_machine.guest import Guest
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in
from ps_link import WRITABLE, register, until
from selftest_bench import SECONDS, Bench, plug
from test_ps_selftest import python

pytestmark = [pytest.mark.qemu, pytest.mark.long]
ROUND = r"eth{0}: self-test: port loops: (\d+) bytes in (\d+) frames of 60 to 9596 bytes went round port {0} \({1}\) in \d+ ms, all good"
NEAR = "near-pcs, near-pma"
FAILED = 2  # status of ethtool
#: Pages of port 0, and how far those of port 1 are behind.
PORT, TEST, LANE = 0xA000_2000, 0xA000_6000, 0xA000_7000
STRIDE = {PORT: 0x1000, TEST: 0x400, LANE: 0x400}
HOST_ENABLE, FILTER, MODE, STATUS, LOOPBACK = 4, 0x100, 4, 0x40, 0
#: What the host wants of its ports: all, and nothing.
OPEN, CLOSED = 3, 0
#: What it has while a port of it is tested.
HELD = 1


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("loops")
    control, wire = folder / "control", folder / "wire"
    setting = Setting(
        hardware=None,
        ps=PsHardware(kernel=WRITABLE),
        ports=2,
        shell=("--self-test", "true"),
        wires=[f"1=socket:path={wire}"],
        card_options=("--control", str(control)),
    )
    with ExitStack() as stack:
        twin = stack.enter_context(Twin(setting, folder))
        twin.ps.files["python.tar"] = python(folder)
        control_socket = stack.enter_context(Control(control))
        stack.enter_context(plug(wire))
        bench = Bench(twin, Guest(stack.enter_context(twin.ps_machine(watched=False))), control_socket)
        bench.guest.run("tar -C / --keep-directory-symlink -xf /run/twin/python.tar", 300)
        bench.guest.run("ln -s python3.13 /usr/bin/python3; ip link set eth1 down")
        bench.guest.wait_link()
        yield bench


def at(page: int, offset: int, port: int) -> int:
    return page + STRIDE[page] * port + offset


def read(bench: Bench, page: int, offset: int, port: int = 0) -> int:
    return register(bench.guest, at(page, offset, port))


def host_wants(bench: Bench, value: int) -> None:
    for port in range(2):
        bench.guest.run(f"busybox devmem {at(PORT, HOST_ENABLE, port):#x} 32 {value}")


def put_back(bench: Bench, host: int) -> None:
    """Nothing is left of a test: of its settings, of the loopbacks, and of what it has taken from host and ARM."""
    for port in range(2):
        assert read(bench, TEST, MODE, port) == 0 and read(bench, TEST, STATUS, port) & 7 == 0
        assert read(bench, LANE, LOOPBACK, port) == 0
        assert read(bench, PORT, HOST_ENABLE, port) == host
    assert read(bench, PORT, FILTER, 0) & 1 and read(bench, PORT, FILTER, 1) == 0
    bench.guest.wait_link()
    bench.guest.ping()


@pytest.fixture
def well(bench: Bench) -> Iterator[Bench]:
    host_wants(bench, OPEN)
    bench.guest.run("dmesg -C")
    yield bench
    for port in range(2):
        bench.control.ask("transceiver", port=port, damage=0, near_locks=True)
    put_back(bench, OPEN)
    bench.guest.check()


def offline(bench: Bench, interface: str = "eth0", status: int = 0, kind: str = "offline") -> tuple[str, str]:
    """What ethtool and what the driver say."""
    ended, text = bench.guest.try_run(f"ethtool -t {interface} {kind}", SECONDS)
    said = bench.guest.run("dmesg | grep self-test: || true")
    assert ended == status, (text, said, bench.guest.log())
    return text, said


def in_the_middle(bench: Bench, then: str, times: int = 1) -> None:
    """A command of the machine, once frames go round port 0; and the end of the test."""
    bench.guest.run(
        f"(for i in $(seq {times}); do ethtool -t eth0 offline; done) >/run/offline 2>&1 &\n"
        f"timeout 60 sh -c 'until busybox devmem {at(TEST, MODE, 0):#x} | grep -q 7$; do :; done' && {then}; wait",
        SECONDS,
    )


def test_frames_come_back_whole_in_the_loops_of_both_ports(well: Bench) -> None:
    """One that is up, and one that is down. The quick test takes neither."""
    for port in range(2):
        text, said = offline(well, f"eth{port}")
        assert re.search(r"link\s+0\nport_loops\s+0$", text, re.MULTILINE), text
        found = re.search(ROUND.format(port, NEAR), said)
        assert found and int(found[2]) >= 2 * 64 and int(found[1]) > 60 * int(found[2]), said
    well.guest.run("dmesg -C")
    assert offline(well, kind="online")[1] == ""
    assert well.guest.statistics()["restarts_failed"] == 0


def test_meridian_selftest_reports_the_loops_and_leaves_out_a_port_that_is_up(well: Bench) -> None:
    result, said = well.run("--quick --only port-loops --loop-plugs 1")["port-loops"]
    assert result == "PASS", said
    loops = f"{NEAR}, external"
    assert re.search(rf"port 1 \d+ bytes in \d+ frames of 60 to 9596 bytes \({loops}\) in \d+ ms", said), said
    assert "not tested: eth0 is up, and ptp4l would lose its clock: 'ip link set eth0 down', then try again" in said
    said = well.run("--quick --no-disturb --only port-loops")["port-loops"]
    assert said == ("SKIP", "it takes each port from the host for some seconds: run it without --no-disturb")


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


def test_a_port_whose_loopback_finds_no_lock_fails(well: Bench) -> None:
    well.control.ask("transceiver", port=0, near_locks=False)
    text, said = offline(well, status=FAILED)
    assert re.search(r"port_loops\s+5$", text, re.MULTILINE), text
    assert "port 0 has no link in the loopback near-pcs: look at the board's reference clock" in said


def test_frames_come_back_through_a_loop_plug_and_a_missing_one_fails(well: Bench) -> None:
    text, said = offline(well, "eth1", kind="external_lb")
    assert re.search(ROUND.format(1, f"{NEAR}, external"), said), said
    assert "External loopback test was executed" in text
    text, said = offline(well, "eth0", status=FAILED, kind="external_lb")
    assert re.search(r"0 came back in the loop external of port 0: clean or change the loop plug", said), said


def test_frames_that_the_host_sends_in_a_test_are_dropped_and_counted(well: Bench) -> None:
    """They do not come back in a loop, and the test is good."""
    with host_load(well.twin.card.socket, receives=True) as load:
        host_wants(well, OPEN)
        text, said = offline(well)
        assert re.search(ROUND.format(0, NEAR), said), (text, said)
        load.check()
    assert load.counters["tx_host_disabled"] > 0 and load.counters["tx_sent"] > 0, load.counters
    host_wants(well, OPEN)


def test_a_port_that_the_host_opens_or_closes_in_a_test_is_so_behind_it(well: Bench) -> None:
    """One that closes its port finds it closed; one that opens it gets it behind the test."""
    address = f"{at(PORT, HOST_ENABLE, 0):#x}"
    in_the_middle(well, f"busybox devmem {address} >/run/held; busybox devmem {address} 32 {CLOSED}")
    assert int(well.guest.run("cat /run/held"), 16) == HELD
    assert read(well, PORT, HOST_ENABLE) == CLOSED
    open_it = f"busybox devmem {address} 32 {OPEN}; sleep 0.2; busybox devmem {address} >/run/held"
    in_the_middle(well, open_it)
    assert int(well.guest.run("cat /run/held"), 16) == HELD
    assert read(well, PORT, HOST_ENABLE) == OPEN
    assert re.search(ROUND.format(0, NEAR), well.guest.run("dmesg"))


def test_the_host_sees_the_port_as_used_by_the_arm_side_in_a_test(well: Bench) -> None:
    """Although its rings do not run. The host's driver leaves its own test of such a port out."""
    in_the_middle(well, f"busybox devmem {at(PORT, FILTER, 0):#x} >/run/filter")
    assert int(well.guest.run("cat /run/filter"), 16) == 1


def test_a_signal_ends_the_loops(well: Bench) -> None:
    in_the_middle(well, "pkill -TERM -x ethtool")
    assert "self-test: port loops: a signal has ended them" in well.guest.run("dmesg")


def test_settings_of_the_interface_wait_for_the_tests_end(well: Bench) -> None:
    in_the_middle(well, "ip link set eth0 mtu 2000; ip link set eth0 down; ip link set eth0 up mtu 1500")
    assert re.search(ROUND.format(0, NEAR), well.guest.run("dmesg"))
    well.guest.run("ip address replace 10.44.0.3/24 dev eth0")


def test_the_loops_are_not_run_while_somebody_else_tests_the_port(well: Bench) -> None:
    """Nothing is changed, and the interface keeps its frames."""
    loopback = at(LANE, LOOPBACK, 1)
    well.guest.run(f"busybox devmem {loopback:#x} 32 0x102")
    text, said = offline(well, "eth1", status=FAILED)
    assert "somebody else tests port 1, or scans its eye: end that, then try again" in said
    assert re.search(r"port_loops\s+16$", text, re.MULTILINE), text
    assert read(well, LANE, LOOPBACK, 1) == 2
    well.guest.run(f"busybox devmem {loopback:#x} 32 0")


def test_meridian_eye_measures_a_port_only_if_nobody_uses_it(well: Bench) -> None:
    """What was changed is put back."""
    measure = "meridian-eye --loopback near-pma --prbs 31 --seconds 1 --prescale 0 --columns 2 --rows 2"
    status, text = well.guest.try_run(f"{measure} --port 1", SECONDS)
    assert status == 1 and "the host is enabled at the port" in text, text
    host_wants(well, CLOSED)
    status, text = well.guest.try_run(measure, SECONDS)
    assert status == 1 and "the card's ARM side is enabled at the port" in text, text
    text = well.guest.run(f"{measure} --port 1", SECONDS)
    assert re.search(r"^PRBS31: no error in \S+ bits, a bit error rate below", text, re.MULTILINE), text
    found = re.search(r"^opening at a bit error rate of \S+: (\S+) UI, (\d+) codes of 254$", text, re.MULTILINE)
    assert found and float(found[1]) > 0 and int(found[2]) > 0, text
    host_wants(well, OPEN)


def test_the_driver_can_be_removed_in_a_test_and_leaves_nothing_of_it(well: Bench) -> None:
    """The driver goes behind the end of the test."""
    in_the_middle(well, "rmmod meridian_ps")
    assert re.search(ROUND.format(0, NEAR), well.guest.run("dmesg"))
    assert read(well, TEST, MODE) == read(well, LANE, LOOPBACK) == read(well, PORT, FILTER) == 0
    assert read(well, PORT, HOST_ENABLE) == OPEN
    well.guest.run("insmod /run/twin/meridian_ps.ko; ip link set eth0 up; ip address replace 10.44.0.3/24 dev eth0")
    well.guest.wait_link()


def test_the_loops_end_with_a_failure_if_the_card_goes(bench: Bench) -> None:
    """It is the last test: the card does not come back."""
    guest = bench.guest
    guest.run("dmesg -C; (for i in $(seq 30); do ethtool -t eth0 offline; done) >/run/offline 2>&1 & echo $! >/run/pid")
    until(lambda: register(guest, at(TEST, MODE, 0)) == 7, "test that runs", SECONDS)
    bench.twin.card.stop()
    deadline = deadline_in(SECONDS)
    while guest.try_run("[ -e /proc/$(cat /run/pid) ]")[0] == 0:
        assert time.monotonic() < deadline
    assert "self-test: port loops: the card does not answer" in guest.run("dmesg")
    guest.run("rmmod meridian_ps", SECONDS)
    guest.check()
