#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes a card off this host's PCIe bus, waits while it gets another bitstream, and finds it again.

A card that is programmed leaves the bus, because its PCIe endpoint is in the bitstream. The port above reports that as a
fatal error, and many a server panics or restarts then. So VFs and functions are removed first, the port's reports are
masked meanwhile, and put back as they were in every case: after an error, Ctrl-C or a signal, too.

The program needs nothing but Python 3.9 and setpci (package pciutils), so it may be copied to a host by itself. It prints
`off the bus` and then waits for a line: an empty one when the card has its bitstream, any other when it has not. The end
of its input counts as the latter. It ends with status 0 if the card is back, 3 if there was none, else 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

#: In tests, a folder that stands for /.
ROOT = Path(os.environ.get("MERIDIAN_FAKE_ROOT", "/"))
DEVICES = ROOT / "sys/bus/pci/devices"
ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
XILINX = 0x10EE
PFS = (0x903F, 0x913F, 0x923F, 0x933F)
#: Of a line of `resource` (include/linux/ioport.h).
UNSET = 0x20000000
#: How long the kernel may take for a file of sysfs, and a link to train. A test has less patience.
PATIENCE = float(os.environ.get("MERIDIAN_PATIENCE", "20"))
#: What a port reports with: register, its bits that are set, its bits that are cleared. By the PCI Express Base
#: Specification: SERR# Enable; Device Control, reporting enables; AER masks, all errors; DPC Control, trigger enable,
#: by its number because not every setpci has a name for it.
REPORTS = (
    ("COMMAND", 0, 0x0100),
    ("CAP_EXP+8.w", 0, 0x000F),
    ("ECAP_AER+8.l", 0x07FFF030, 0),
    ("ECAP_AER+14.l", 0x0000F1C1, 0),
    ("ECAP001d+6.w", 0, 0x0003),
)
#: What it has seen, cleared by writing ones: Device Status, AER uncorrectable and correctable status.
SEEN = (("CAP_EXP+a.w", 0x000F), ("ECAP_AER+4.l", 0xFFFFFFFF), ("ECAP_AER+10.l", 0xFFFFFFFF))
LOCKED = "The kernel may be locked down (Secure Boot): program the card while the host is off"


class Refused(Exception):
    """A sentence that says why not, and what to do."""


class Absent(Refused):
    """There is no card here."""


class Ended(BaseException):
    """By a signal."""


def tell(sentence: str) -> None:
    print(f"unplug: {sentence}", file=sys.stderr, flush=True)


def put(path: Path, value: str) -> None:
    """Writes a file of sysfs, in a process of its own: the kernel may let a writer wait for ever."""
    program = "import os, sys; os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC), sys.argv[2].encode())"
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path), value],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Refused(
            f"the kernel does not end the write of {value} to {path}: 'dmesg' may say for whom it waits"
        ) from None
    if process.returncode:
        raise Refused(f"{path} does not take {value}: {said.strip().splitlines()[-1].rpartition('] ')[2]}")


def until(holds: Callable[[], bool]) -> bool:
    """Whether it does, in the end."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(PATIENCE / 40)
    return True


def amount(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


@dataclass(frozen=True)
class Function:
    """A PF or VF in sysfs."""

    path: Path

    @property
    def address(self) -> str:
        return self.path.name

    def number(self, name: str) -> int:
        return int((self.path / name).read_text(), 0)

    def link(self, name: str) -> str:
        """What a link points to, "" if there is none."""
        return os.path.basename(os.readlink(self.path / name)) if (self.path / name).is_symlink() else ""

    def bars(self) -> dict[int, int]:
        """Bytes of each memory that has an address; from 7 on those of its VFs."""
        found = {}
        for bar, line in enumerate((self.path / "resource").read_text().splitlines()):
            start, end, flags = (int(word, 0) for word in line.split())
            if flags and not flags & UNSET and start:
                found[bar] = end - start + 1
        return found

    def is_card(self) -> bool:
        return self.number("vendor") == XILINX and self.number("device") in PFS

    def nodes(self) -> set[str]:
        """Files of /dev by which programs use the function without the kernel's network."""
        found = {f"/dev/{uio.name}" for uio in self.path.glob("uio/uio*")}
        found |= {f"/dev/vfio/devices/{device.name}" for device in self.path.glob("vfio-dev/vfio*")}
        if (group := self.link("iommu_group")) and self.link("driver").startswith("vfio"):
            found |= {f"/dev/vfio/{group}", f"/dev/vfio/noiommu-{group}"}
        return found

    def users(self) -> list[str]:
        """Processes that have one of these files open."""
        nodes, found = self.nodes(), {}
        for link in (ROOT / "proc").glob("[0-9]*/fd/*") if nodes else ():
            try:
                if os.readlink(link) in nodes:
                    process = link.parents[1]
                    found[process.name] = (process / "comm").read_text().strip()
            except OSError:  # The process has ended meanwhile.
                continue
        return [f"{name} (process {number})" for number, name in sorted(found.items())]


def functions() -> list[Function]:
    return [Function(path.resolve()) for path in sorted(DEVICES.glob("*")) if ADDRESS.fullmatch(path.name)]


class Slot:
    """The place of a card: the port above it, and what is behind that."""

    def __init__(self, one: Function) -> None:
        above = one.path.parent
        self.port = Function(above) if ADDRESS.fullmatch(above.name) else None
        self.above, self.device = above, one.address.partition(".")[0]

    def functions(self) -> list[Function]:
        """All of the card, VFs last."""
        here = [Function(path) for path in sorted(self.above.glob("*")) if ADDRESS.fullmatch(path.name)]
        if not self.port:  # A root bus has other devices, too.
            own = {each.path for each in here if each.address.partition(".")[0] == self.device}
            own |= {link.resolve() for path in own for link in path.glob("virtfn*")}
            here = [each for each in here if each.path in own]
        return sorted(here, key=lambda each: (each.path / "physfn").is_symlink())

    def pfs(self) -> list[Function]:
        return [each for each in self.functions() if not (each.path / "physfn").is_symlink()]

    def link(self) -> str:
        """Returns the width and speed at the port, "" where it does not say."""
        try:
            at = (self.port or self.pfs()[0]).path
            width = (at / "current_link_width").read_text().strip()
            return f"x{width} at {(at / 'current_link_speed').read_text().strip()}"
        except (OSError, IndexError):
            return ""

    def rescan(self) -> None:
        """Uses the empty bus's own file if it is there, because Linux then sizes the port's windows anew."""
        of_bus = sorted(self.above.glob("pci_bus/*/rescan")) if self.port else []
        put(of_bus[0] if of_bus else ROOT / "sys/bus/pci/rescan", "1")


def chosen(card: str) -> Slot:
    """The slot of the card that is meant. Raises Refused if it is not clear which."""
    all_here = functions()
    if card:
        address = card if card.count(":") == 2 else f"0000:{card}"
        named = [each for each in all_here if each.address in (address, f"{address}.0")]
        if not named:
            raise Refused(f"there is no {card} on the bus: 'lspci -D -d 10ee:' lists what is")
        return Slot(named[0])
    slots = {slot.device: slot for slot in (Slot(each) for each in all_here if each.is_card())}
    if len(slots) > 1:
        raise Refused(f"there are cards at {', '.join(sorted(slots))}: name one (CARD=, --card)")
    if not slots:
        others = [each.address for each in all_here if each.number("vendor") == XILINX]
        also = f" It has AMD's {', '.join(others)}: if that is the card, name it (CARD=, --card)." if others else ""
        raise Absent(f"this machine has no Meridian card on its PCIe bus.{also}")
    return next(iter(slots.values()))


def setpci(port: Function, word: str) -> str | None:
    """What setpci prints; None if the port has no such capability."""
    command = ["setpci", "-s", port.address, word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    said = (done.stdout + done.stderr).strip()
    if done.returncode == 0 and not done.stderr:
        return said
    if "not found" in said:
        return None
    locked = f". {LOCKED}" if "not permitted" in said else ""
    raise Refused(f"'{' '.join(command)}' failed: {said}{locked}")


class Reports:
    """The errors that a port reports, masked."""

    def __init__(self, port: Function) -> None:
        self.port = port
        self.before: list[tuple[str, str]] = []
        self.seen = {name: setpci(port, name) for name, _ in SEEN}

    def mask(self) -> None:
        for name, ones, zeros in REPORTS:
            value = setpci(self.port, name)
            if value is None:
                continue
            self.before.append((name, value))
            masked = (int(value, 16) | ones) & ~zeros
            setpci(self.port, f"{name}={masked:0{len(value)}x}")
            if int(setpci(self.port, name) or "0", 16) & zeros:
                raise Refused(f"the register {name} of port {self.port.address} does not change. {LOCKED}")

    def restore(self) -> None:
        """What came meanwhile is cleared first, or it would be reported late. Raises Refused at the end."""
        failed = []
        for name, bits in SEEN:
            try:
                self.clear(name, bits)
            except (Refused, OSError, subprocess.SubprocessError):
                failed.append(name)
        for name, value in reversed(self.before):
            try:
                if setpci(self.port, name) != value:
                    setpci(self.port, f"{name}={value}")
            except (Refused, OSError, subprocess.SubprocessError):
                failed.append(f"{name}={value}")
        if failed:
            raise Refused(f"port {self.port.address} does not report errors as before: 'setpci -s {self.port.address} "
                          f"{' '.join(failed)}', or restart the host")  # fmt: skip

    def clear(self, name: str, bits: int) -> None:
        before = self.seen[name]
        if before is not None and (now := setpci(self.port, name)):
            new = int(now, 16) & ~int(before, 16) & bits
            if new:
                setpci(self.port, f"{name}={new:0{len(now)}x}")


@contextmanager
def unreported(port: Function | None) -> Iterator[None]:
    """While the port is put back, signals are ignored."""
    if port is None:
        tell("there is no port above the card here, so no reports of errors are masked")
        yield
        return
    reports = Reports(port)
    try:
        reports.mask()
        was = " ".join(f"{name}={value}" for name, value in reports.before)
        tell(f"port {port.address} reports no errors now; if this program is killed: setpci -s {port.address} {was}")
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        reports.restore()


def check_users(slot: Slot, force: bool) -> None:
    used = [(each.address, ", ".join(users)) for each in slot.functions() if (users := each.users())]
    for address, users in used:
        if not force:
            raise Refused(f"{address} is in use by {users}: end it first; FORCE=1 (--force) takes the function from it")
        tell(f"{address} is taken from {users}")


def take_off(slot: Slot) -> None:
    for pf in slot.pfs():
        count = pf.path / "sriov_numvfs"
        if count.exists() and (vfs := int(count.read_text())):
            tell(f"{pf.address} loses its {vfs} VFs; make them again afterwards")
            # A PF whose driver does not do this loses them when it is removed.
            if pf.link("driver"):
                put(count, "0")
                if not until(lambda path=pf.path: not any(path.glob("virtfn*"))):
                    raise Refused(f"{pf.address} has its VFs still")
    for each in reversed(slot.functions()):
        driver = each.link("driver")
        tell(f"{each.address} is removed" + (f", driver {driver}" if driver else ""))
        put(each.path / "remove", "1")
        if not until(lambda path=each.path: not path.exists()):
            raise Refused(f"{each.address} is still there")


def find_again(slot: Slot, before: dict[str, dict[int, int]]) -> None:
    """Looks until all functions of before are there, then judges. Raises Refused."""

    def complete() -> bool:
        if len(slot.pfs()) < len(before):
            slot.rescan()
        return len(slot.pfs()) >= len(before)

    until(complete)
    found = slot.pfs()
    where = f"port {slot.port.address}" if slot.port else "its bus"
    if not found:
        link = slot.link()
        trained = bool(link) and not link.startswith("x0 ")
        why = (
            f"its link has trained ({link}), so the card answers too late or not at all" if trained
            else "its link has not trained: is the bitstream for this board, and does the slot give it a clock?"
        )  # fmt: skip
        raise Refused(f"after the rescan there is no card behind {where}; {why}. Restart the host without taking "
                      "the card's power away (docs/bring-up.md, PCIe link)")  # fmt: skip
    for pf in found:
        bars, were = pf.bars(), before.get(pf.address, {})
        memory = [bar for bar in (0, 2) if bar not in bars]
        if memory:
            had = f"; before it had {amount(were[memory[0]])}" if memory[0] in were else ""
            raise Refused(f"{pf.address} got no addresses for BAR {memory[0]}{had}: the window of {where} is too small "
                          "for the new BARs. Restart the host without taking the card's power away")  # fmt: skip
        if lost := [bar for bar in were if bar > 6 and bar not in bars]:
            tell(f"{pf.address} got no addresses for BAR {lost[0] - 7} of its VFs: VFs need a restart of the host")
        for bar in (0, 2):
            if bar in were and bars[bar] != were[bar]:
                tell(f"BAR {bar} of {pf.address} has {amount(bars[bar])} now, and had {amount(were[bar])}")
    if len(found) < len(before):
        tell(f"there were {len(before)} PFs before")
    link = slot.link()
    told = ", ".join(f"{pf.address} ({pf.link('driver') or 'no driver'})" for pf in found)
    tell(f"the card is back{f', {link}' if link else ''}: {told}")


def run(card: str, force: bool) -> int:
    if not shutil.which("setpci"):
        raise Refused("no setpci on PATH: install pciutils")
    slot = chosen(card)
    check_users(slot, force)
    before = {pf.address: pf.bars() for pf in slot.pfs()}
    with unreported(slot.port):
        try:
            take_off(slot)
            print("off the bus", flush=True)
            if sys.stdin.isatty():
                tell("now program the card where its JTAG cable is, and then press Enter here")
            done = sys.stdin.readline() == "\n"
        except BaseException:
            # What is left of the card is found again, without a judgement: the first error is the one that counts.
            with suppress(Refused):
                slot.rescan()
            raise
        if done:
            find_again(slot, before)
        else:
            slot.rescan()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--card", default="", metavar="ADDRESS", help="the card's place, as 0000:3b:00.0 or 3b:00.0, "
                        "where there are several or it has another design")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="go on although a program uses a function by VFIO or UIO")
    arguments = parser.parse_args()

    def end(number: int, _: object) -> None:
        raise Ended(signal.Signals(number).name)

    signal.signal(signal.SIGTERM, end)
    for number in (signal.SIGINT, signal.SIGHUP):
        # A script that drives this program may end before the one that programs the card. The end of input tells.
        signal.signal(number, end if sys.stdin.isatty() else signal.SIG_IGN)
    try:
        return run(arguments.card, arguments.force)
    except Absent as sentence:
        tell(str(sentence))
        return 3
    except Refused as sentence:
        tell(str(sentence))
    except Ended as name:
        tell(f"ended by {name}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
