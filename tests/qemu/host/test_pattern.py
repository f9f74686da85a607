# SPDX-License-Identifier: Apache-2.0
"""The offline self-test on a card with the self-test block: frames of the generator go to every queue of the PF, the
driver sends them back, and the checker compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from driver_machine import XDP_TOOL, changed, running, tool, vfs_apart
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import PEER, PF_DEVICE
from meridian_twin import Ps
from meridian_twin.control import Control
from selftest_bench import SECONDS, Bench

pytestmark = [pytest.mark.qemu, pytest.mark.long]
GOOD = r"self-test: (\d+) bytes in (\d+) frames of 60 to (\d+) bytes went each way through (\d+) queues in \d+ ms, all good"
DEVICE = "pci/0000:01:00.0"
ARM = bytes.fromhex("02a53a53a501")
#: Of the self_test page, at its place in BAR2.
PAGE = 0x117000
MODE, STATUS = 0x04, 0x40
RUN = 0x1F << 24  # of its status: the number of the last test that has begun, which the test's frames carry
#: Status of ethtool if a test of the driver has failed.
FAILED = 2
#: Frames of others that may come meanwhile.
FEW = 100
#: The driver does that to one frame before it goes back, once its parameter says so.
FLIPPED, LOST = 1, 2
PLANTED = (
    "linux/rings/meridian_loop.c",
    r"(\n/\*\*\n \* meridian_loop\(\)(?:.*\n)*?)(\t__netif_tx_lock)",
    (
        "\nstatic int planted;\nmodule_param(planted, int, 0644);\n\\1"
        f"\tswitch (xchg(&planted, 0)) {{\n\tcase {FLIPPED}:\n\t\tskb->data[50] ^= 4;\n\t\tbreak;\n"
        f"\tcase {LOST}:\n\t\tdev_kfree_skb_any(skb);\n\t\treturn true;\n\t}}\n\\2"
    ),
)


@contextmanager
def machine(folder: Path) -> Iterator[Bench]:
    path = folder / "control"
    with ExitStack() as stack:
        setting = Setting(
            suite=tools.SUITES[0],
            hardware=Hardware(kernel="iomem=relaxed"),
            shell=("--self-test", "true"),
            card_options=("--control", str(path)),
            driver=stack.enter_context(changed(*PLANTED)),
        )
        twin = stack.enter_context(Twin(setting, folder))
        twin.host.files["xdp_tool"] = tool(folder, XDP_TOOL)
        control = stack.enter_context(Control(path))
        guest = stack.enter_context(running(twin))
        # The ARM side has the port, so that the loops are left out and the pattern is seen alone.
        stack.enter_context(Ps.connect(twin.card.socket)).start(0, ARM)
        yield Bench(twin, guest, control)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with machine(tmp_path_factory.mktemp("pattern")) as bench:
        yield bench


@pytest.fixture
def well(bench: Bench) -> Iterator[Bench]:
    """After each test the block is off, and frames pass as before."""
    bench.guest.run("dmesg -C")
    yield bench
    bench.control.ask("link", up=True)
    bench.guest.run("ip link set eth0 up")
    assert block(bench, MODE) == 0
    assert block(bench, STATUS) & 0x33 == 0, "the block is idle, and checks and takes nothing"
    bench.guest.wait_link()
    bench.guest.ping()
    bench.guest.check()


def block(bench: Bench, offset: int) -> int:
    """A word of the block's page, which the machine lets programs read."""
    bar2 = int(bench.guest.run("sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource").split()[0], 16)
    return int(bench.guest.run(f"busybox devmem {bar2 + PAGE + offset:#x}").strip(), 16)


def counters(bench: Bench) -> dict[str, int]:
    """Of the interface in Linux, and of its function and port in the card."""
    names = ("packets", "bytes", "dropped", "errors")
    files = [f"{way}_{name}" for way in ("rx", "tx") for name in names]
    text = bench.guest.run(
        "cd /sys/class/net/eth0/statistics; grep . *; ethtool -S eth0 | grep -E 'card|port' | tr -d ' '"
    )
    found = {name: int(value) for name, value in re.findall(r"^(\w+):(\d+)$", text, re.MULTILINE)}
    return {name: value for name, value in found.items() if name in files or name.startswith(("card_", "port_"))}


def offline(bench: Bench, status: int = 0) -> tuple[str, str]:
    """What ethtool and what the driver say."""
    ended, text = bench.guest.try_run("ethtool -t eth0 offline", SECONDS)
    said = bench.guest.run("dmesg | grep self-test: || true")
    assert ended == status, (text, said, bench.guest.log())
    return text, said


def good(said: str) -> tuple[int, int, int, int]:
    """Bytes, frames, largest frame and queues of a test that was good."""
    found = re.search(GOOD, said)
    assert found, said
    count, frames, largest, queues = map(int, found.groups())
    return count, frames, largest, queues


@contextmanager
def in_the_middle(bench: Bench, times: int = 1) -> Iterator[None]:
    """The test has begun. times: it is run one after another, for who may come late."""
    test = "ethtool -t eth0 offline" if times == 1 else f"(for i in $(seq {times}); do ethtool -t eth0 offline; done)"
    bench.guest.run(f"{test} >/run/offline 2>&1 & echo $! >/run/offline.pid")
    bar2 = int(bench.guest.run("sed -n 3p /sys/bus/pci/devices/0000:01:00.0/resource").split()[0], 16)
    # In the machine, as a look from outside may take as long as the test.
    bench.guest.run(
        f"timeout 60 sh -c 'until busybox devmem {bar2 + PAGE + MODE:#x} | grep -q F$; do :; done'", SECONDS
    )
    yield
    bench.guest.run("while [ -e /proc/$(cat /run/offline.pid) ]; do sleep 0.05; done", SECONDS)


def test_all_frames_of_the_pattern_are_good_and_no_port_counts_them(well: Bench) -> None:
    """All queues, all counted good; the interface counts the frames, and the card's functions and ports do not."""
    well.guest.run("ethtool -L eth0 combined 2")
    before = counters(well)
    text, said = offline(well)
    after = counters(well)
    assert re.search(r"dma_pattern\s+0$", text, re.MULTILINE), text
    count, frames, largest, queues = good(said)
    assert frames >= 256 and count >= 60 * frames and (largest, queues) == (1514, 2)
    risen = {name: after[name] - before[name] for name in before}
    for way in ("rx", "tx"):
        assert 0 <= risen.pop(f"{way}_packets") - frames < FEW
        assert risen.pop(f"{way}_bytes") >= count
    assert "card_tx_sent" in risen and "port_tx_frames" in risen
    many = {name: value for name, value in risen.items() if value >= (2000 * FEW if "bytes" in name else FEW)}
    assert not many and not risen["tx_dropped"] and not risen["tx_errors"], risen


def test_frames_of_the_pattern_in_several_buffers_are_good(well: Bench) -> None:
    """A frame of 9014 bytes is in three, and the rings are the smallest."""
    well.guest.run("ip link set eth0 mtu 9000; ethtool -G eth0 rx 64 tx 64; ethtool -L eth0 combined 1")
    assert good(offline(well)[1])[2:] == (9014, 1)
    well.guest.run("ip link set eth0 mtu 1500; ethtool -G eth0 rx 512 tx 512; ethtool -L eth0 combined 2")


def test_the_online_test_sends_no_pattern(well: Bench) -> None:
    """The block has begun no test, and the interface, which counts a pattern's frames, has none of them."""
    run, before = block(well, STATUS) & RUN, counters(well)
    text = well.guest.run("ethtool -t eth0 online")
    after = counters(well)
    assert block(well, STATUS) & RUN == run
    for name in ("rx_packets", "tx_packets"):
        assert 0 <= after[name] - before[name] < FEW, name
    assert re.search(r"dma_pattern\s+0$", text, re.MULTILINE), text
    assert "self-test" not in well.guest.run("dmesg")


def test_no_link_is_needed(well: Bench) -> None:
    well.control.ask("link", up=False)
    well.guest.until("cat /sys/class/net/eth0/carrier", "^0")
    good(offline(well, status=FAILED)[1])


def test_an_interface_that_is_down_fails_the_offline_test(well: Bench) -> None:
    well.guest.run("ip link set eth0 down")
    assert "the interface is down: set it up" in offline(well, status=FAILED)[1]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (FLIPPED, r"1 of 256 frames \(1 bit errors\) were damaged: look at PCIe's errors"),
        (LOST, r"1 of 256 frames were skipped: look at rx_no_memory|time-out: 1 of 256 frames are not back: look at"),
    ],
    ids=["a flipped bit", "a lost frame"],
)
def test_a_damaged_or_lost_frame_is_named(well: Bench, fault: int, said: str) -> None:
    well.guest.run(f"echo {fault} >/sys/module/meridian/parameters/planted")
    text, log = offline(well, status=FAILED)
    assert re.search(r"dma_pattern\s+[1-9]\d*$", text, re.MULTILINE), text
    assert re.search(said, log), log
    good(offline(well)[1])


def health(bench: Bench, what: str = "show") -> str:
    return " ".join(bench.guest.run(f"devlink health {what} {DEVICE} reporter selftest").split())


def counts(bench: Bench) -> tuple[str, int, int]:
    """State of devlink's reporter, and how many errors and recoveries it had."""
    found = re.search(r"state (\w+) error (\d+) recover (\d+)", health(bench))
    assert found
    return found[1], int(found[2]), int(found[3])


def test_devlink_tells_of_a_test_that_fails(well: Bench) -> None:
    """Until what has failed passes; a test that leaves it out does not count."""
    guest = well.guest
    guest.run(f"devlink health dump clear {DEVICE} reporter selftest")
    state, errors, recovered = counts(well)
    assert state == "healthy"
    guest.run(f"echo {FLIPPED} >/sys/module/meridian/parameters/planted")
    offline(well, status=FAILED)
    guest.until(
        f"devlink health show {DEVICE} reporter selftest", f"state error error {errors + 1} recover {recovered}"
    )
    dump = health(well, "dump show")
    assert "test: registers failed: false errno: 0" in dump and "test: dma_pattern failed: true errno: 74" in dump, dump
    assert "frames_of_batch: 256 " in dump and "checked_damaged: 1 checked_bit_errors: 1 " in dump, dump
    guest.run("ethtool -t eth0 online")
    assert counts(well) == ("error", errors + 1, recovered)
    good(offline(well)[1])
    guest.until(f"devlink health show {DEVICE} reporter selftest", "state healthy")
    assert "test: dma_pattern failed: false errno: 0" in health(well, "diagnose")
    assert "test: dma_pattern failed: true" in health(well, "dump show"), "a dump is kept"


def test_devlinks_recovery_runs_the_test_again(well: Bench) -> None:
    """And it is refused if that fails."""
    guest = well.guest
    guest.run(f"echo {FLIPPED} >/sys/module/meridian/parameters/planted")
    offline(well, status=FAILED)
    guest.until(f"devlink health show {DEVICE} reporter selftest", "state error")
    _, errors, recovered = counts(well)
    guest.run(f"dmesg -C; echo {FLIPPED} >/sys/module/meridian/parameters/planted")
    status, said = guest.try_run(f"devlink health recover {DEVICE} reporter selftest", SECONDS)
    assert status and "the self-test still fails" in said, said
    assert "were damaged" in guest.run("dmesg")
    assert counts(well) == ("error", errors, recovered)
    guest.run(f"devlink health recover {DEVICE} reporter selftest", SECONDS)
    assert counts(well) == ("healthy", errors, recovered + 1)


def test_devlink_does_not_tell_of_what_is_no_fault_of_the_card(well: Bench) -> None:
    before = counts(well)
    well.guest.run("ip link set eth0 down")
    offline(well, status=FAILED)
    assert counts(well) == before
    well.control.ask("link", up=False)
    well.guest.run("ip link set eth0 up")
    well.guest.try_run("ethtool -t eth0 online")
    assert counts(well) == before


def test_meridian_selftest_reports_the_pattern_and_its_faults(well: Bench) -> None:
    said = well.run("--quick --only dma-pattern")["dma-pattern"]
    assert said[0] == "PASS" and re.search(r"eth0 \d+ bytes in \d+ frames through 2 queue\(s\) in \d+ ms$", said[1]), (
        said
    )
    said = well.run("--quick --no-disturb --only dma-pattern")["dma-pattern"]
    assert said == ("SKIP", "it takes the traffic of each interface away for about 2 s: run it without --no-disturb")
    well.guest.run(f"echo {FLIPPED} >/sys/module/meridian/parameters/planted")
    well.fails_in("dma-pattern", r"eth0: 1 of 256 frames \(1 bit errors\) were damaged\. Look at PCIe's errors")


def test_the_stack_loses_no_frame_while_the_pattern_runs(well: Bench) -> None:
    """What it sends meanwhile waits, and what it gets comes."""
    well.guest.run(f"ping -i 0.2 -c 25 -W 20 {PEER} >/run/ping 2>&1 & echo $! >/run/ping.pid")
    good(offline(well)[1])
    well.guest.run("while [ -e /proc/$(cat /run/ping.pid) ]; do sleep 0.1; done")
    assert " 0% packet loss" in well.guest.run("cat /run/ping")


def test_setting_the_interface_down_waits_until_the_pattern_has_ended(well: Bench) -> None:
    with in_the_middle(well):
        well.guest.run("ip link set eth0 down")
    good(well.guest.run("dmesg"))


def test_a_reset_waits_until_the_pattern_has_ended(well: Bench) -> None:
    with in_the_middle(well):
        well.guest.run(f"echo 1 >{PF_DEVICE}/reset")
    good(well.guest.run("dmesg"))


def test_the_driver_can_be_removed_while_the_pattern_runs(well: Bench) -> None:
    with in_the_middle(well):
        well.guest.run("rmmod meridian")
    well.guest.load()


def test_a_signal_ends_the_pattern(well: Bench) -> None:
    with in_the_middle(well):
        well.guest.run("kill -TERM $(cat /run/offline.pid)")
    assert "self-test: a signal has ended the pattern" in well.guest.run("dmesg")


def test_the_pattern_is_left_out_while_xdp_has_the_queues(well: Bench) -> None:
    well.guest.run(": >/run/xdp; /run/twin/xdp_tool eth0 pass >/run/xdp 2>&1 & echo $! >/run/xdp.pid")
    well.guest.until("cat /run/xdp", "attached")
    assert "the pattern is left out, as XDP or AF_XDP has the queues" in offline(well)[1]
    said = well.run("--quick --only dma-pattern")["dma-pattern"]
    assert said[0] == "SKIP" and "detach it" in said[1], said
    well.guest.run("kill $(cat /run/xdp.pid); while [ -e /proc/$(cat /run/xdp.pid) ]; do sleep 0.05; done")


def test_a_vf_has_no_result_of_the_pattern(well: Bench) -> None:
    with vfs_apart(well.guest):
        well.guest.run("ip netns exec vf0 ip link set eth1 up")
        status, text = well.guest.try_run("ip netns exec vf0 ethtool -t eth1 offline")
        assert status and "dma_pattern" not in text, text
        good(offline(well)[1])
