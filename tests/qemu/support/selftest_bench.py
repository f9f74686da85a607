# SPDX-License-Identifier: Apache-2.0
"""A machine with meridian-selftest in it, and faults to plant there."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from driver_machine import changed, running
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import Guest
from meridian_twin.control import Control
from meridian_twin.patience import end_of
from meridian_twin.wire import Wire, WireError
from qemu_monitor import NATIVE_HOT_PLUG, Monitor, options

SECONDS = 500
LINE = re.compile(r"^(PASS|FAIL|SKIP)  (\S+) +(.*)$", re.MULTILINE)
STAND_IN = "/run/stand-in"
#: Of frames of the ports' own test.
TEST_TYPE = b"\x88\xb5"


@dataclass
class Bench:
    """A machine at a card, and the card's control socket."""

    twin: Twin
    guest: Guest
    control: Control

    def run(self, words: str = "", program: str = "meridian-selftest", status: int = 0) -> dict[str, tuple[str, str]]:
        """(result, text) by the name of each line."""
        ended, text = self.guest.try_run(f"{program} {words}", SECONDS)
        assert ended == status, text
        return {name: (result, said) for result, name, said in LINE.findall(text)}

    def names(self, lines: dict[str, tuple[str, str]], wanted: str) -> set[str]:
        """Of the lines with a result."""
        return {name for name, (result, _) in lines.items() if result == wanted}

    def fails_in(self, check: str, said: str, words: str = "--quick", program: str = "meridian-selftest") -> None:
        """No other line fails."""
        lines = self.run(words, program, status=1)
        failed = {name: lines[name][1] for name in self.names(lines, "FAIL")}
        assert list(failed) == [check], failed
        assert re.search(said, failed[check]), failed


@contextmanager
def machine_that_loses_its_card(
    folder: Path, planted: tuple[str, str, str], ports: int, cables: Sequence[tuple[int, int]] = ()
) -> Iterator[tuple[Bench, Monitor]]:
    """A machine at a card with the self-test block and two PFs, to which its monitor gives errors of PCIe. planted: what is
    changed in the driver. cables: pairs of its ports that they join."""
    control, monitor = folder / "control", folder / "monitor"
    with ExitStack() as stack:
        setting = Setting(
            suite=tools.SUITES[0],
            hardware=Hardware(
                device="id=card,pfs=2", kernel="iomem=relaxed", extra=[*options(monitor), *NATIVE_HOT_PLUG]
            ),
            ports=ports,
            cables=cables,
            shell=("--self-test", "true"),
            card_options=("--control", str(control)),
            # One module for all tests of the self-test block.
            driver=stack.enter_context(changed(*planted)),
        )
        twin = stack.enter_context(Twin(setting, folder))
        guest = stack.enter_context(running(twin, watched=False))
        guest.run("ip link set eth1 up")
        bench = Bench(twin, guest, stack.enter_context(Control(control)))
        yield bench, stack.enter_context(Monitor(monitor))


@contextmanager
def stand_in(guest: Guest, file: str, change: str = "true") -> Iterator[None]:
    """Another text in place of a file of sysfs or proc. change: a script that changes STAND_IN, a copy of the file."""
    guest.run(f"set -e; cat {file} >{STAND_IN}; {change}; mount --bind {STAND_IN} $(realpath {file})")
    try:
        yield
    finally:
        guest.run(f"umount $(realpath {file})")


def newer_map(guest: Guest) -> str:
    """A program whose register map is newer than the card's."""
    guest.run(
        "rm -rf /run/newer; cp -r /run/twin/tools /run/newer; "
        "sed -i -E 's/(define MERIDIAN_MAP_MINOR +).*/\\199/' /run/newer/meridian_regs.h"
    )
    return "/run/newer/meridian-selftest"


@contextmanager
def plug(path: Path) -> Iterator[None]:
    """A loop plug: test frames that leave come back."""
    with Wire(path) as wire:
        ended = threading.Event()

        def loop() -> None:
            while not ended.is_set():
                try:
                    for frame in wire.take():
                        if frame.data[12:14] == TEST_TYPE:
                            wire.send(frame.data)
                except (WireError, OSError):
                    return  # the card is gone
                ended.wait(0.001)

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            end_of(thread)
