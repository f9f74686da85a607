# SPDX-License-Identifier: Apache-2.0
"""A cable between two ports of a card, as the driver and meridian-selftest test it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import pytest
from driver_machine import changed, running
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE
from meridian_twin import Ps
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in, end_of
from meridian_twin.wire import Wire, WireError
from selftest_bench import SECONDS, Bench
from test_pattern import ARM, FAILED, PLANTED
from test_port_loops import (
    HOST_ENABLE,
    LANE,
    LOOPBACK,
    MODE,
    NEAR,
    PORT,
    ROUND,
    STRIDE,
    TEST,
    offline,
    register,
    rests,
    wait_for_end,
)

pytestmark = [pytest.mark.qemu, pytest.mark.long]
CABLE = f"{NEAR}, cable to port {{}}"
#: The PF of port 1.
OTHER_PF = f"{Path(PF_DEVICE).name[:-1]}1"
#: Frames of a generator have it before the number of their port.
SOURCE = bytes.fromhex("024d52444e")
#: mode, while both ends of a cable are tested.
BOTH = 0xF
Fault = Callable[[bytes], list[tuple[bytes, bool]]]


class Cable:
    """Joins port 0 and 1. fault: what becomes of the frames that a generator sends by port 0: data, and whether the FCS is
    wrong. plug: they come back to port 0 instead."""

    def __init__(self, paths: list[Path]) -> None:
        self.fault: Fault | None = None
        self.plug = False
        self._paths = paths
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _carry(self, wires: list[Wire], port: int) -> None:
        for frame in wires[port].take():
            to = wires[port if self.plug else 1 - port]
            made = frame.data[6:11] == SOURCE and port == 0
            for data, bad in self.fault(frame.data) if made and self.fault else [(frame.data, False)]:
                to.send(data, bad_fcs=bad)

    def _run(self) -> None:
        with Wire(self._paths[0]) as one, Wire(self._paths[1]) as other:
            while not self._ended.is_set():
                try:
                    for port in range(2):
                        self._carry([one, other], port)
                except (WireError, OSError):
                    return  # the card is gone
                self._ended.wait(0.001)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        end_of(self._thread)


def one(fault: Fault) -> Fault:
    """Only one frame of a batch has the fault: number 30, which the frames do not have by which the driver looks for the other end."""
    return lambda data: fault(data) if int.from_bytes(data[16:24], "little") == 30 else [(data, False)]


@contextmanager
def machine(folder: Path) -> Iterator[tuple[Bench, Cable]]:
    control = folder / "control"
    paths = [folder / f"wire{port}" for port in range(2)]
    with ExitStack() as stack:
        setting = Setting(
            suite=tools.SUITES[0],
            hardware=Hardware(device="pfs=2", kernel="iomem=relaxed"),
            ports=2,
            shell=("--self-test", "true"),
            wires=[f"{port}=socket:path={path}" for port, path in enumerate(paths)],
            card_options=("--control", str(control)),
            # One module for all tests of the self-test block.
            driver=stack.enter_context(changed(*PLANTED)),
        )
        twin = stack.enter_context(Twin(setting, folder))
        control_socket = stack.enter_context(Control(control))
        cable = stack.enter_context(Cable(paths))
        guest = stack.enter_context(running(twin, watched=False))
        guest.run("ip link set eth1 up")
        yield Bench(twin, guest, control_socket), cable


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Cable]]:
    with machine(tmp_path_factory.mktemp("cable")) as it:
        yield it


@pytest.fixture
def cable(joined: tuple[Bench, Cable]) -> Iterator[Cable]:
    yield joined[1]
    joined[1].fault, joined[1].plug = None, False


@pytest.fixture
def bench(joined: tuple[Bench, Cable], cable: Cable) -> Iterator[Bench]:
    """After each test nothing is left of it at both ports."""
    bench = joined[0]
    bench.guest.run("dmesg -C")
    yield bench
    rests(bench)
    bench.guest.check()


def external(bench: Bench, interface: str = "eth0", status: int = 0) -> tuple[str, str]:
    return offline(bench, interface, status, kind="external_lb")


def of_port_1(bench: Bench, page: int, offset: int) -> str:
    """The address of a register of port 1, for devmem."""
    bar2 = bench.guest.bar(2)
    return f"{bar2 + page + STRIDE[page] + offset:#x}"


def in_the_cable(bench: Bench, then: str) -> None:
    """A command of the machine, once frames go through the cable."""
    at = of_port_1(bench, TEST, MODE)
    bench.guest.run(
        "ethtool -t eth0 external_lb >/run/offline 2>&1 & echo $! >/run/offline.pid\n"
        f"timeout 120 sh -c 'until busybox devmem {at} | grep -qi {BOTH:X}$; do :; done' && {then}",
        SECONDS,
    )


@pytest.mark.parametrize("port", [0, 1])
def test_frames_go_both_ways_at_once(bench: Bench, port: int) -> None:
    text, said = external(bench, f"eth{port}")
    found = re.search(ROUND.format(port, CABLE.format(1 - port)), said)
    assert re.search(r"port_loops\s+0$", text, re.MULTILINE) and found, said
    assert int(found[2]) >= 4 * 64 and int(found[1]) > 60 * int(found[2]), said
    assert "External loopback test was executed" in text
    rests(bench)  # The fixture looks at that, too, but its failure would not count as this test's.


def test_meridian_selftest_reports_the_cable_once_and_the_loops_of_both_ends(bench: Bench) -> None:
    result, said = bench.run("--quick --only port-loops --cables 0-1")["port-loops"]
    assert result == "PASS", said
    for port, loops in ((0, CABLE.format(1)), (1, NEAR)):
        assert re.search(rf"port {port} \d+ bytes in \d+ frames of 60 to 9596 bytes \({loops}\) in \d+ ms", said), said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (one(lambda _: []), r"1 of 64 frames in the cable from port 0 to port 1 were lost"),
        (one(lambda data: [(data, True)]), r"1 of 64 frames in the cable from port 0 to port 1 had a wrong FCS"),
        (
            one(lambda data: [(data[:50] + bytes([data[50] ^ 4]) + data[51:], False)]),
            r"1 of 64 frames in the cable from port 0 to port 1 had wrong bits",
        ),
        (lambda _: [], r"64 of 64 frames were sent and 0 came back in the loop external of port 0"),
    ],
    ids=["a frame is lost", "a wrong FCS", "a wrong bit", "it is broken"],
)
def test_a_bad_cable_fails_the_line_of_the_loops_alone(bench: Bench, cable: Cable, fault: Fault, said: str) -> None:
    cable.fault = fault
    bench.fails_in("port-loops", rf"eth0: {said}\. Clean or change the ", words="--quick --cables 0-1")


def test_a_cable_or_loop_plug_that_the_user_did_not_name_fails(bench: Bench, cable: Cable) -> None:
    text = r"eth0: port 0 has no loop plug, but a cable to port 1\. Name the ports by --cables"
    bench.fails_in("port-loops", text, words="--quick --only port-loops --loop-plugs 0")
    cable.plug = True
    text = r"eth0: the frames of port 0 come back to it, so it has no cable to port 1\. Name a loop plug"
    bench.fails_in("port-loops", text, words="--quick --only port-loops --cables 0-1")


def test_the_cable_is_left_out_while_the_arm_side_uses_the_other_end(bench: Bench) -> None:
    """The port's own loops are tested, and then the test is left out."""
    with Ps.connect(bench.twin.card.socket) as ps:
        port = ps.start(1, ARM)
        try:
            text, said = external(bench)
            assert "they are left out, as the card's ARM side uses port 1" in said, said
            assert re.search(r"port_loops\s+0$", text, re.MULTILINE), text
            result, words = bench.run("--quick --only port-loops --cables 0-1")["port-loops"]
            assert result == "SKIP" and "the card's ARM side uses port" in words, words
        finally:
            port.reset()
            ps.card.set_ps_filter(1, False)  # the interface is down


def test_the_test_is_left_out_when_the_arm_side_opens_the_other_end(bench: Bench) -> None:
    with Ps.connect(bench.twin.card.socket) as ps:
        at = ps.card.regs.ps_address("PORT_TEST", "MODE", 1)
        bench.guest.run("ethtool -t eth0 external_lb >/run/offline 2>&1 & echo $! >/run/offline.pid")
        end = deadline_in(SECONDS)
        while ps.card.read(at, "ps") != BOTH:
            assert time.monotonic() < end
        port = ps.start(1, ARM)
        try:
            wait_for_end(bench)
            said = bench.guest.run("dmesg")
            assert "they are left out, as the card's ARM side uses port 1" in said and "went round" not in said, said
        finally:
            port.reset()
            ps.card.set_ps_filter(1, False)  # the interface is down


def test_a_signal_ends_the_test_of_the_cable(bench: Bench) -> None:
    in_the_cable(bench, "pkill -TERM -x ethtool")
    wait_for_end(bench)
    assert "self-test: port loops: a signal has ended them" in bench.guest.run("dmesg")


def test_the_cable_is_not_tested_while_somebody_else_tests_the_other_end(bench: Bench) -> None:
    at = of_port_1(bench, LANE, LOOPBACK)
    bench.guest.run(f"busybox devmem {at} 32 0x102")
    _, said = external(bench, status=FAILED)
    assert "the frames of port 0 do not come back, and somebody else tests another port" in said, said
    assert register(bench, LANE, LOOPBACK, 1) == 2
    bench.guest.run(f"busybox devmem {at} 32 0")


def test_the_cable_is_not_tested_while_another_driver_has_the_other_end(bench: Bench) -> None:
    """Linux's driver has given the PF of the other port up; devmem opens the port, as another driver of that PF does."""
    guest, at = bench.guest, of_port_1(bench, PORT, HOST_ENABLE)
    guest.run(f"echo {OTHER_PF} >/sys/bus/pci/drivers/meridian/unbind; busybox devmem {at} 32 3")
    try:
        text, said = external(bench, status=FAILED)
        assert "another driver has opened port 1 for its function: end it, then try again" in said, said
        assert re.search(r"port_loops\s+16$", text, re.MULTILINE), text
        assert register(bench, PORT, HOST_ENABLE, 1) == 3
        guest.run(f"busybox devmem {at} 32 0; dmesg -C")
        assert re.search(ROUND.format(0, CABLE.format(1)), external(bench)[1])
        assert register(bench, PORT, HOST_ENABLE, 1) == 0
    finally:
        guest.run(f"busybox devmem {at} 32 0; echo {OTHER_PF} >/sys/bus/pci/drivers/meridian/bind; ip link set eth1 up")
