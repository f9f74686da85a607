# SPDX-License-Identifier: Apache-2.0
"""ptp4l on the card's PS, what it says of its clock, and what the card's pulse per second says of it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from meridian_machine import Hardware, PsHardware, Setting, Twin
from meridian_machine.guest import Guest
from meridian_twin.patience import deadline_in

SECOND_PS = 10**12
SYNC_LOG = -3  # log2 of the seconds between Sync messages, and between requests
CALM = 16  # samples of a clock that is nearly settled
# The integral part of ptp4l's servo takes ten samples for two thirds of its way: so many are four times as long.
SETTLED = 40
MOST = 600  # samples until a clock is calm, of which a start from afar takes a hundred
CYCLE_NS = 4  # of the clock that drives the pulse per second
CLOCK = "/sys/class/ptp/ptp0"
# The machine's own clock is the host's and jitters against twin time, so ptp4l is not to compare the two. It counts the
# time without an Announce by the machine's clock, too, which goes on while the card waits for a processor: so it waits
# for ten seconds. For the same reason it asks for the peer delay once a second: ptp4l 4.2 takes two answers between two of
# its requests for those of two peers, whoever sent them, and stops the port for 16 seconds when that happens again and
# again; an answer that is later than the next request comes together with that one's.
PTP4L = " ".join(
    [
        "--summary_interval=-10 --tx_timestamp_timeout=2000 --sanity_freq_limit=0 --logAnnounceInterval=-1",
        "--announceReceiptTimeout=20 --logMinPdelayReqInterval=0",
        f"--logMinDelayReqInterval={SYNC_LOG} --clientOnly=1",
    ]
)
OLD_PTP4L = PTP4L.replace("clientOnly", "slaveOnly")
LINE = re.compile(r"master offset +(-?\d+) (s\d) freq +([+-]?\d+) path delay +(-?\d+)")


@dataclass(frozen=True)
class Tag:
    """Of a VLAN; service: of type 0x88A8."""

    vlan: int
    service: bool = False

    @property
    def option(self) -> str:
        """Of a grandmaster."""
        return "svlan" if self.service else "vlan"

    @property
    def protocol(self) -> str:
        return "802.1ad" if self.service else "802.1Q"


@dataclass(frozen=True)
class Grandmaster:
    """One of those on the wire, each in a domain of its own, its clock off by its own.

    spec: of `meridian_card --wire`; options: of ptp4l, to find it; logs: of the intervals of Sync, Delay_Req, Announce;
    tags: those of its frames, outermost first.
    """

    name: str
    domain: int
    spec: str
    options: str
    drift_ppb: int = 0
    offset_ns: int = 0
    link_delay_ns: int = 250
    logs: tuple[int, int, int] = (SYNC_LOG, SYNC_LOG, -1)
    tags: tuple[Tag, ...] = ()

    def wire(self) -> str:
        fixed = "log_sync={},log_delay_req={},log_announce={}".format(*self.logs)
        mine = f"domain={self.domain},drift_ppb={self.drift_ppb},offset_ns={self.offset_ns}"
        tags = "".join(f",{tag.option}={tag.vlan}" for tag in self.tags)
        return f"ptp:{self.spec},{fixed},{mine},link_delay={self.link_delay_ns}ns{tags}"

    @property
    def interface(self) -> str:
        """The PS's, where its frames come out without their tags."""
        return ".".join(["eth0", *(str(tag.vlan) for tag in self.tags)])

    def found(self) -> str:
        """Options of a ptp4l that is to follow it."""
        return f"-i {self.interface} --domainNumber={self.domain} {self.options}"

    def at(self, twin_ps: int) -> float:
        """Its time in ps at a moment of twin time; of one without wander."""
        return twin_ps + 1000 * self.offset_ns + twin_ps * self.drift_ppb * 1e-9


@dataclass(frozen=True)
class Samples:
    """What ptp4l has said of each Sync: offsets and path delays in ns, frequency in ppb."""

    offsets: list[int]
    delays: list[int]
    states: list[str]
    text: str

    @staticmethod
    def of(text: str) -> Samples:
        found = LINE.findall(text)
        return Samples(
            [int(f[0]) for f in found],
            [int(f[3]) for f in found],
            [f[1] for f in found],
            text,
        )

    def last(self, count: int) -> Samples:
        assert len(self.offsets) >= count, f"{len(self.offsets)} samples: {self.text[-2000:]}"
        return Samples(self.offsets[-count:], self.delays[-count:], self.states[-count:], self.text)

    def first(self, count: int) -> Samples:
        return Samples(self.offsets[:count], self.delays[:count], self.states[:count], self.text)

    def is_calm(self) -> bool:
        return self.peak() <= 2 and set(self.states) == {"s2"}

    def rms(self) -> float:
        return mean(offset**2 for offset in self.offsets) ** 0.5

    def peak(self) -> int:
        return max(map(abs, self.offsets))


@contextmanager
def ps_with(
    grandmasters: Sequence[Grandmaster], folder: Path, card: Sequence[str] = (), more: str = "", host: bool = False,
    hardware: PsHardware | None = None, files: Mapping[str, Path] | None = None, shell: Sequence[str] = (),
) -> Iterator[tuple[Twin, Guest]]:  # fmt: skip
    """The PS with its driver; at the other end of the wire these grandmasters, and more. host: there can be one, too;
    files: for the PS, under /run/twin; shell: options of the card's generator."""
    wire = "+".join([g.wire() for g in grandmasters] + ([more] if more else []))
    of_host, of_ps = Hardware() if host else None, hardware or PsHardware()
    wires = [f"0={wire or 'none'}"]
    setting = Setting(hardware=of_host, ps=of_ps, wires=wires, card_options=card, shell=shell)
    with Twin(setting, folder) as twin:
        twin.ps.files.update(files or {})
        with twin.ps_machine() as machine:
            guest = Guest(machine)
            guest.wait_link()
            guest.run(f"echo 1 >{CLOCK}/pps_enable")
            yield twin, guest
            guest.run("rmmod meridian_ps")
            guest.check()


def make_vlans(guest: Guest, tags: Sequence[Tag], address: str) -> None:
    """An interface of the PS for each tag and those outside it, unless it is there; the innermost gets an address."""
    guest.run("modprobe 8021q")
    name = "eth0"
    for tag in tags:
        below, name = name, f"{name}.{tag.vlan}"
        link = f"ip link add link {below} name {name} type vlan proto {tag.protocol} id {tag.vlan}"
        guest.run(f"[ -e /sys/class/net/{name} ] || {link} && ip link set {name} up")
    guest.run(f"ip address replace {address} dev {name}")
    # ptp4l takes the interface's link-local address, which has to be there and no longer on trial.
    guest.until(f"ip -6 address show dev {name} scope link -tentative", "inet6")


class Running:
    """A ptp4l at work in a guest."""

    def __init__(self, guest: Guest, where: str, domain: int) -> None:
        self.guest, self.where = guest, where
        self.pmc = f"pmc -u -b 0 -d {domain} -s {where}.socket"

    def samples(self) -> Samples:
        return Samples.of(self.guest.run(f"cat {self.where}"))

    def reach(self, done: Callable[[Samples], bool], what: str, seconds: float) -> Samples:
        deadline = deadline_in(seconds)
        while not done(samples := self.samples()):
            assert time.monotonic() < deadline, f"no {what} in {seconds} s: {samples.text[-2000:]}"
            time.sleep(0.5)
        return samples

    def samples_until(self, done: Callable[[Samples], bool], what: str, most: int, seconds: float) -> Samples:
        """Of at most so many new samples, each of which may take so many seconds: the card's time is no measure of them."""
        begun = seen = len(self.samples().offsets)
        deadline = deadline_in(seconds)
        while not done(samples := self.samples()):
            count = len(samples.offsets)
            assert count <= begun + most, f"no {what} in {most} samples: {samples.text[-2000:]}"
            if count > seen:
                seen, deadline = count, deadline_in(seconds)
            assert time.monotonic() < deadline, f"no sample in {seconds} s: {samples.text[-2000:]}"
            time.sleep(0.5)
        return samples

    def settle(self, seconds: float = 90, calm_ones: int = CALM) -> int:
        """How many samples there are when the clock is calm, which some of them come before; seconds: for each."""
        had = len(self.samples().offsets)
        calm = self.samples_until(
            lambda it: len(it.offsets) >= had + calm_ones and it.last(calm_ones).is_calm(), "calm", MOST, seconds
        )
        return len(calm.offsets)

    def next(self, count: int, seconds: float) -> Samples:
        """So many from now on; seconds: for each."""
        had = len(self.samples().offsets)
        found = self.samples_until(lambda it: len(it.offsets) >= had + count, f"{count} samples", count + 50, seconds)
        return found.first(had + count).last(count)

    def says(self, words: str, seconds: float = 60) -> Samples:
        return self.reach(lambda it: words in it.text, f"'{words}'", seconds)

    def ask(self, *what: str) -> str:
        """Of its management messages; pmc waits for an answer no longer than a moment."""
        return self.guest.until(f"{self.pmc} {' '.join(repr(it) for it in what)}", "RESPONSE")


@contextmanager
def running(guest: Guest, options: str, where: str = "/tmp/ptp4l") -> Iterator[Running]:
    """ptp4l with these options beside those that a twin needs."""
    program = "strings -a $(command -v ptp4l) 2>/dev/null || cat $(command -v ptp4l)"
    guest.run(f"({program}) | grep -qa clientOnly && echo '{PTP4L}' >/tmp/options || echo '{OLD_PTP4L}' >/tmp/options")
    interface = "" if re.match("-i ", options) else "-i eth0"
    command = f"ptp4l {interface} -m -q $(cat /tmp/options) --uds_address={where}.socket {options}"
    guest.run(f"{command} >{where} 2>&1 & echo $! >{where}.pid")
    try:
        domain = re.search(r"domainNumber=(\d+)", options)
        yield Running(guest, where, int(domain[1]) if domain else 0)
    finally:
        guest.run(f"kill $(cat {where}.pid); while [ -e /proc/$(cat {where}.pid) ]; do sleep 0.05; done")


def ptp4l(guest: Guest, grandmaster: Grandmaster, count: int, settle: int = 90) -> Samples:
    """Runs it: so many samples after it has settled, which it may take so many seconds for."""
    with running(guest, grandmaster.found()) as it:
        it.settle(settle, SETTLED)
        return it.next(count, 60 + count)


def pulses(folder: Path) -> list[int]:
    """Twin time in ps of each rising edge of the card's pulse per second."""
    return [at for at, level in edges(folder, "pps") if level]


def edges(folder: Path, pin: str) -> list[tuple[int, bool]]:
    """Twin time in ps of each edge of a pin of the card's clock, and the level after it."""
    lines = (json.loads(line) for line in (folder / "card.jsonl").read_text().splitlines())
    return [(event["t_ps"], bool(event["level"])) for event in lines if event["ev"] == pin]


def pulse_errors(grandmaster: Grandmaster, edges: Sequence[int]) -> list[float]:
    """How much later each edge is than a second of the grandmaster, in ns."""
    times = (grandmaster.at(edge) for edge in edges)
    return [((time + SECOND_PS / 2) % SECOND_PS - SECOND_PS / 2) / 1000 for time in times]
