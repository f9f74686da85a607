# SPDX-License-Identifier: Apache-2.0
"""meridian-selftest on a host with a card: it passes on one that is well (page selftest.md), and each planted fault makes
exactly its own line fail.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from driver_machine import changed, running
from meridian_machine import Setting, Twin, driver, tools
from meridian_machine.guest import PF_DEVICE
from meridian_twin import Ps
from meridian_twin.control import Control
from selftest_bench import SECONDS, Bench, newer_map, stand_in

pytestmark = pytest.mark.qemu
PASSES = {
    *("driver", "bars", "map", "bitstream", "pcie", "payload", "registers", "link.0", "interrupts", "latency", "vf"),
    "counters",
}
SKIPS = {"ps", "module", "phc", "pps", "sensors", "dma-pattern", "port-loops"}
DRIVER = "/sys/bus/pci/drivers/meridian"
ADDRESS = PF_DEVICE.rpartition("/")[2]
ARM = bytes.fromhex("02a53a53a501")
#: Faults of the driver, by the value of its parameter `planted`.
TABLES, LOST_COUNT, VF_STAYS_AWAY = 1, 2, 3
TWICE = f'(planted == {LOST_COUNT} && !strcmp(port_counters[i].name, "port_tx_from_host"))'
PLANTED = (
    (
        "linux/selftest/meridian_selftest.c",
        r"(static int test_tables.*\n\{\n)",
        f"int planted;\nmodule_param(planted, int, 0644);\n\n\\1\tif (planted == {TABLES})\n\t\treturn -EIO;\n",
    ),
    (
        "linux/netdev/meridian_stats.c",
        r"(void meridian_stats_values\(.*\n\{\n)((?:.*\n)*?)(.*= meridian_read_port_counter)(.*);\n",
        f"extern int planted;\n\n\\1\\2\\3\\4 << {TWICE};\n",
    ),
    (
        "linux/functions/meridian_recovery.c",
        r"(void meridian_after_reset\(.*\n\{\n)",
        f"extern int planted;\n\n\\1\tif (planted == {VF_STAYS_AWAY} && meridian_is_vf(m->pdev))\n\t\treturn;\n",
    ),
)


@contextmanager
def planted_driver() -> Iterator[Path]:
    """The folder of its source."""
    with ExitStack() as stack:
        source = driver.SOURCE
        for file, pattern, replacement in PLANTED:
            source = stack.enter_context(changed(file, pattern, replacement, source))
        yield source


@contextmanager
def machine(folder: Path, source: Path = driver.SOURCE) -> Iterator[Bench]:
    """A host with this driver, and a card."""
    path = folder / "control"
    setting = Setting(suite=tools.SUITES[0], card_options=("--control", str(path)), driver=source)
    with Twin(setting, folder) as twin, Control(path) as control, running(twin) as guest:
        yield Bench(twin, guest, control)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with machine(tmp_path_factory.mktemp("selftest")) as bench:
        yield bench


@pytest.fixture
def well(bench: Bench) -> Iterator[Bench]:
    """What a test does to the machine is undone by the test; the machine's log is free of warnings after it."""
    yield bench
    bench.guest.wait_link()
    bench.guest.check()


@pytest.mark.quick
def test_a_card_that_is_well_passes(well: Bench) -> None:
    lines = well.run()
    assert (well.names(lines, "PASS"), well.names(lines, "SKIP")) == (PASSES, SKIPS), lines
    assert lines["dma-pattern"][1] == "this bitstream has no self-test block: build it with --self-test true"
    assert lines["module"][1] == "the host does not see it: run meridian-selftest on the card's ARM side"
    assert well.guest.run(f"cat {PF_DEVICE}/sriov_numvfs").strip() == "0"


def test_no_disturb_leaves_out_the_checks_that_change_anything(well: Bench) -> None:
    lines = well.run("--quick --no-disturb")
    assert lines["vf"] == ("SKIP", "it makes a VF of eth0 and resets it: run it without --no-disturb")
    assert lines["counters"][0] == "PASS"
    well.guest.run("ip link set eth0 down")
    lines = well.run("--quick --no-disturb")
    assert lines["latency"][0] == "SKIP" and "which is down" in lines["latency"][1]
    assert "state DOWN" in well.guest.run("ip link show eth0")
    well.guest.run("ip link set eth0 up")


def test_an_interface_that_is_down_is_down_again(well: Bench) -> None:
    well.guest.run("ip link set eth0 down")
    assert well.run("--quick --only latency")["latency"][0] == "PASS"
    assert "state DOWN" in well.guest.run("ip link show eth0")
    well.guest.run("ip link set eth0 up")


def test_the_json_report_has_each_check_and_its_result(well: Bench) -> None:
    report = json.loads(well.guest.run("meridian-selftest --json --only map --only phc", SECONDS))
    assert [(check["name"], check["result"]) for check in report["checks"]] == [("map", "PASS"), ("phc", "SKIP")]
    assert report["driver"].startswith("meridian ") and report["card"] == ADDRESS


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_a_vf_is_taken_away_after_a_signal(well: Bench, signal: str) -> None:
    text = well.guest.run(
        "meridian-selftest --only vf >/run/out 2>&1 & program=$!\n"
        f"for i in $(seq 600); do [ $(cat {PF_DEVICE}/sriov_numvfs) = 1 ] && break; sleep 0.1; done\n"
        f"kill -{signal} $program; wait $program; echo status $?; cat /run/out {PF_DEVICE}/sriov_numvfs",
        SECONDS,
    )
    assert "status 130" in text and text.splitlines()[-1] == "0", text
    assert f"ended by SIG{signal}; what it had changed is put back" in text


def test_a_pf_without_a_driver_fails_the_check_of_the_driver(well: Bench) -> None:
    well.guest.run(f"echo {ADDRESS} >{DRIVER}/unbind")
    well.fails_in("driver", f"no driver is bound to {ADDRESS}. Load it: 'modprobe meridian'")
    well.guest.run(f"echo {ADDRESS} >{DRIVER}/bind; ip address add 10.44.0.2/24 dev eth0; ip link set eth0 up")


def test_a_bar_that_is_too_small_fails_the_check_of_the_bars(well: Bench) -> None:
    half = (
        "read -r a b c < <(sed -n 3p /run/stand-in); "
        'sed -i "3s/.*/$a $(printf 0x%016x $((a + (1 << 21) - 1))) $c/" /run/stand-in'
    )
    with stand_in(well.guest, f"{PF_DEVICE}/resource", half):
        well.fails_in("bars", "BAR2 of .* has 2 MiB, the driver needs 4 MiB")


def test_a_register_map_older_than_the_drivers_fails_the_check_of_the_map(well: Bench) -> None:
    said = r"the card's register map is version 1\.\d+, the driver's is 1\.99"
    well.fails_in("map", said, program=newer_map(well.guest))


def test_the_bitstream_of_another_board_fails_its_check(well: Bench) -> None:
    well.fails_in("bitstream", "which is not zcu106. Load a bitstream", "--quick --board zcu106")


def test_a_pcie_link_with_too_few_lanes_fails_its_check(well: Bench) -> None:
    with stand_in(well.guest, f"{PF_DEVICE}/current_link_width", "echo 4 >/run/stand-in"):
        well.fails_in("pcie", "the link has x4 at 8 GT/s, card and slot can x16 at 8 GT/s")


def test_a_port_above_with_a_smaller_mps_fails_the_check_of_payload(well: Bench) -> None:
    """Bits 7 to 5 of Device Control, which is 8 bytes behind the PCI Express capability at 0x70."""
    with stand_in(well.guest, f"{PF_DEVICE}/config", "printf '\\x20' | dd of=/run/stand-in bs=1 seek=120 conv=notrunc"):
        well.fails_in("payload", f"MPS of {ADDRESS} is 256 bytes, that of the port above is 128")


def test_a_port_without_a_link_fails_its_line_and_may_be_left_out(well: Bench) -> None:
    well.control.ask("link", up=False)
    well.guest.until("cat /sys/class/net/eth0/carrier", "^0")
    well.fails_in("link.0", r"port 0 \(eth0\) has no link")
    lines = well.run("--quick --ports 1")
    assert lines["link.0"] == ("SKIP", "--ports leaves it out")
    well.control.ask("link", up=True)


def test_an_interrupt_that_does_not_come_fails_the_check_of_interrupts(well: Bench) -> None:
    """No vector fires: of those that the line of vf tests, see the next."""
    with stand_in(well.guest, "/proc/interrupts"):
        well.fails_in("interrupts", r"no interrupt comes for queue\(s\) 0, 1 of eth0", "--quick --only interrupts")


def test_a_vf_fails_if_its_messages_do_not_interrupt(well: Bench) -> None:
    """By itself, as the interrupts of queues do not come either."""
    with stand_in(well.guest, "/proc/interrupts"):
        well.fails_in("vf", r"no interrupt comes for messages of VF 0 to eth0", "--quick --only vf")
    lines = well.run("--quick --only vf")
    assert "its messages interrupted, vectors that fired: " in lines["vf"][1], lines


def test_frames_that_complete_late_fail_the_check_of_latency(well: Bench) -> None:
    """A queueing discipline that lets two pass in a second holds each for longer than the bound."""
    well.guest.run("tc qdisc add dev eth0 root tbf rate 800bit burst 64 limit 10000")
    well.fails_in("latency", "us from send.* to completion .* more than 500000 us")
    well.guest.run("tc qdisc del dev eth0 root")


def test_rings_of_the_arm_side_pass_at_work_and_fail_when_they_have_stopped(well: Bench) -> None:
    """They are seen at work, and seen when they have stopped by themselves."""
    with Ps.connect(well.twin.card.socket) as ps:
        port = ps.start(0, ARM)
        lines = well.run("--quick --only ps")
        assert lines["ps"] == ("PASS", "the ARM side's rings run on the port(s) of eth0")
        port._write("RX_PRODUCER", port.rx_producer + 2 * port.size)
        well.fails_in("ps", "RX ring of the port of eth0 has stopped: producer index beyond the ring")
        port.reset()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The driver behaves well until its parameter says which fault it shows."""
    with planted_driver() as source, machine(tmp_path_factory.mktemp("planted"), source) as bench:
        yield bench


@pytest.mark.parametrize(
    ("fault", "check", "said"),
    [
        (TABLES, "registers", "'ethtool -t eth0' fails in tables"),
        (LOST_COUNT, "counters", "frames that left the port of eth0 and who sent them differ by"),
        (VF_STAYS_AWAY, "vf", r"after its reset \d+ frames of \S+ \(VF 0\) reach eth0"),
    ],
    ids=["tables", "a counter", "a VF"],
)
def test_a_fault_of_the_driver_fails_the_check_that_is_for_it(
    planted: Bench, fault: int, check: str, said: str
) -> None:
    planted.guest.run(f"echo {fault} >/sys/module/meridian/parameters/planted")
    planted.fails_in(check, said)
    planted.guest.run("echo 0 >/sys/module/meridian/parameters/planted")
