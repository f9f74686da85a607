# SPDX-License-Identifier: Apache-2.0
"""A VF in hostile hands (vf_attack.c), wherever they are, and what it must not do to the PF and other functions."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from host_leaks import held
from host_network import FAR, MEGABYTE, Function, Network
from meridian_machine import tools
from meridian_machine.guest import Guest

PART = 25_000  # messages and doorbells between two resets of the VF
LOST = ("card_rx_queue_full", "card_rx_copy_cut", "card_rx_disabled", "card_rx_bad_queue", "card_tx_spoof")
DEVLINK = "pci/0000:01:00.0"


def build_attack(folder: Path) -> Path:
    """The program, static, in that folder."""
    program, library = folder / "vf_attack", tools.ROOT / "host-driver" / "qdma"
    sources = [Path(__file__).with_name("vf_attack.c"), *sorted(library.rglob("*.c"))]
    command = ["gcc", "-static", "-O2", "-Wall", "-Werror", f"-I{library}", "-o", program, *sources]
    subprocess.run(command, check=True, timeout=60)
    return program


def slow_mail(net: Network, rate: int) -> None:
    """A VF may send that many messages a second, as a simulated PF reads them slowly, and would not call it a flood.

    While there are no VFs.
    """
    net.guest.run(f"devlink dev param set {DEVLINK} name vf_message_rate value {rate} cmode driverinit")
    net.guest.run(f"devlink dev reload {DEVLINK}", 120)
    net.pf.up()


def parts(operations: int) -> Iterator[tuple[int, int]]:
    """(count, seed) of each, with a reset of the VF after it."""
    for seed, start in enumerate(range(0, operations, PART), 1):
        yield min(PART, operations - start), seed


def patience(count: int) -> int:
    """Seconds that so many may take at most."""
    return 120 + count // 20


def counters(function: Function) -> dict[str, int]:
    return function.guest.statistics(function.interface, function.enter)


def faults(guest: Guest) -> set[str]:
    """Functions that the IOMMU has caught at what is not theirs."""
    return set(re.findall(r"DMAR: \[DMA (?:Read|Write)[^\]]*\] Request device \[([^\]]*)\]", guest.run("dmesg")))


class Pings:
    """Of the victims, to the wire and to each other, five a second."""

    def __init__(self, pf: Function, vf: Function) -> None:
        self.guest = pf.guest
        ways = [(pf, FAR), (vf, FAR), (vf, pf.address), (pf, vf.address)]
        self.lines = [f"{function.enter}ping -i 0.2 -W 20 {to}" for function, to in ways]

    @contextmanager
    def running(self) -> Iterator[None]:
        each = "\n".join(f"{line} >/tmp/ping{n} 2>&1 & echo $! >>/tmp/pings" for n, line in enumerate(self.lines))
        self.guest.run(f"rm -f /tmp/pings\n{each}")
        try:
            yield
        finally:
            self.guest.run("sleep 2; kill -INT $(cat /tmp/pings); sleep 1")

    def lost(self) -> int:
        """Requests without an answer; but for one of each that may be on its way."""
        total = 0
        for n, line in enumerate(self.lines):
            found = re.search(r"(\d+) packets transmitted, (\d+) received", self.guest.run(f"cat /tmp/ping{n}"))
            assert found, line
            sent, received = int(found[1]), int(found[2])
            assert sent >= 5, f"{line}: {sent} sent"
            total += max(sent - received - 1, 0)
        return total


class Victims:
    """The PF and another VF, at work. First `usual`, then `attacked`, then `check_kept`."""

    def __init__(self, net: Network, vf: Function) -> None:
        self.guest, self.both = net.guest, [net.pf, vf]
        self._pf, self._pings = net.pf, Pings(net.pf, vf)
        self._digest = net.serve("file", MEGABYTE)

    def download(self) -> None:
        assert [victim.download("file") for victim in self.both] == [self._digest, self._digest]

    @contextmanager
    def usual(self) -> Iterator[None]:
        """All that goes with an attack but the attack, so that what the kernel keeps for later is kept already."""
        with self._pings.running():
            yield
        self._usual = self._pings.lost()
        self._held, self._mail = held(self.guest), counters(self._pf)
        self._drops = self._lost_frames()
        self.guest.run("dmesg -C")

    @contextmanager
    def attacked(self, operations: int) -> Iterator[list[int]]:
        """For what the attack has done, which goes into the list by `add`."""
        start, totals = time.monotonic(), list[int]()
        with self._pings.running():
            yield totals
            self.download()
        seconds = time.monotonic() - start
        sent, rung, answered, resets = totals[:4]
        print(f"{sent} messages, {rung} doorbells, {answered} answers taken, {resets} resets in {seconds:.0f} s")
        assert resets > 0
        assert sent + rung >= operations
        assert min(sent, rung) > operations / 4
        assert self._pings.lost() <= self._usual
        assert self._lost_frames() == self._drops
        now = {key: value - self._mail[key] for key, value in counters(self._pf).items() if key.startswith("vf_")}
        print(now)
        assert now["vf_messages"] > answered > 50, "its PF has listened"
        assert all(now[f"vf_{what}"] > 10 for what in ("messages_refused", "messages_slowed", "answers_untaken")), now
        log = [line for line in self.guest.log().splitlines() if "meridian" in line]
        for words in ("floods its PF with messages", "does not take its messages"):
            assert any(words in line for line in log), words
        assert len(log) < 100 + 3 * seconds, "the log is not flooded"

    def check_kept(self) -> None:
        """Nothing is held that was not before; when the VF is in the state again that it had at the end of `usual`."""
        self.guest.check()
        after = held(self.guest)
        print(self._held, after)
        assert {cache: more for cache, more in self._held.grown(after).items() if more > 8} == {}
        assert after.mappings <= self._held.mappings

    def _lost_frames(self) -> list[dict[str, int]]:
        return [{key: counters(victim)[key] for key in LOST} for victim in self.both]


def add(totals: list[int], said: str) -> None:
    """What vf_attack said at its end, to what it said before."""
    numbers = [int(word) for word in said.split()]
    totals[:] = [total + number for total, number in zip(totals or [0] * len(numbers), numbers, strict=True)]


def attack_from(guest: Guest, devices: list[str], operations: int, totals: list[int]) -> None:
    """In the machine itself, from all at once. They are reset after each part, under the eyes of their PF."""
    for count, seed in parts(operations):
        start = "".join(
            f"/run/twin/vf_attack {device} {count // len(devices)} {seed + 100 * n} >/tmp/said{n} 2>&1 & p{n}=$!\n"
            for n, device in enumerate(devices)
        )
        end = " && ".join(f"wait $p{n}" for n in range(len(devices)))
        guest.run(f"{start}{end} || {{ cat /tmp/said*; exit 1; }}", patience(count))
        for n, device in enumerate(devices):
            add(totals, guest.run(f"cat /tmp/said{n}; echo 1 >{device}/reset"))
        guest.check()


class Administrator:
    """Who changes what is said of the attackers all the time, so that it meets with what they do."""

    def __init__(self, guest: Guest, vfs: int) -> None:
        self.guest = guest
        words = [
            words
            for vf in range(vfs)
            for words in (f"vf {vf} mac 02:00:00:00:77:0{vf}", f"vf {vf} vlan 7", f"vf {vf} max_tx_rate 500")
        ]
        words += [f"vf {vf} {word}" for vf in range(vfs) for word in ("vlan 0", "max_tx_rate 0", "spoofchk on")]
        self._script = "\n".join(
            f"ip link set eth0 {word} || echo '{word}' >>/tmp/refused; sleep 0.5" for word in words
        )

    @contextmanager
    def at_work(self) -> Iterator[None]:
        loop = f"while [ -e /tmp/administer ]; do\n{self._script}\ndone"
        self.guest.run(f"rm -f /tmp/refused; touch /tmp/administer\n({loop}) >/dev/null 2>&1 & echo $! >/tmp/who")
        try:
            yield
        finally:
            self.guest.run("rm /tmp/administer; while [ -e /proc/$(cat /tmp/who) ]; do sleep 0.2; done", 120)
        assert self.guest.run("cat /tmp/refused 2>/dev/null || true") == ""


def worked(guest: Guest) -> float:
    """Seconds that kernel threads have worked, of the PF and all others."""
    lines = guest.run("cat /proc/[0-9]*/stat 2>/dev/null || true").splitlines()
    threads = [line.rsplit(")", 1)[1].split() for line in lines if "(kworker" in line or "(irq/" in line]
    return sum(int(fields[11]) + int(fields[12]) for fields in threads) / 100


def told_of(guest: Guest, function: int) -> int:
    """Lines of the log about a VF that the PF's library may write."""
    return len(re.findall(rf"function {function} (?:floods|does not take|loses a multicast)", guest.log()))
