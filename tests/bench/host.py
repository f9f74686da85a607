# SPDX-License-Identifier: Apache-2.0
"""Compares the host driver's path through the kernel with those of QEMU's virtio-net and igb, in one emulated machine.

One guest, one kernel, one program that makes and counts frames (net_load.c), all three cards at once. Instructions are
those that the guest's kernel executes, counted by a TCG plugin (twin/qemu/plugin): it is exact, changes no clock, and a
processor that waits executes none; what the machine does of itself meanwhile is measured apart and taken off. Packets
per second are by the wall clock and tell how fast the simulated card and QEMU are, not a driver.

Received frames end in a rule of tc that drops them, and sent ones come from a packet socket: what is counted is the
driver and the way between it and the stack's first or last step, the same for all. A frame that comes alone costs more
than one of many: the slower the simulation of our card on a busy system, the fewer come together. So the interrupts of
a packet are counted, too: two runs of a driver are comparable if these are alike.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from meridian_machine import Hardware, Machine, Setting, Twin
from report import Figure, write

SOURCE = Path(__file__).with_name("net_load.c")
LOAD = "/run/twin/net_load"
NOBODY = "02:00:00:00:00:99"
QUEUES = (1, 2)
SIZES = (64, 1500)
#: One of TCP that is cut into 45 segments of 1,448 bytes of payload, by the card if it can.
LARGE = 54 + 45 * 1448 + 4
IDLE_SECONDS = 3
#: Kernel driver and interface of the far end of each card; ours first, those to compare with behind.
CARDS = {"meridian": "wire0", "virtio-net": "virtio0", "igb": "igb0"}
DRIVERS = {"meridian": "meridian", "virtio-net": "virtio_net", "igb": "igb"}
#: Frames of one run: the Verilated card is slower by far.
FRAMES = {"meridian": 3000, "virtio-net": 20000, "igb": 20000}
#: Share of them that must pass. QEMU's igb drops what finds one queue full while another has room.
LEAST_PASSED = {"meridian": 0.99, "virtio-net": 0.99, "igb": 0.1}
#: The same of large ones.
LARGE_FRAMES = {"meridian": 100, "virtio-net": 2000, "igb": 2000}


@dataclass(frozen=True)
class Count:
    """Instructions of the kernel between two marks, and the time."""

    kernel: int
    seconds: float


@dataclass(frozen=True)
class Run:
    """What one run of one card gave. No instructions: most of those counted were not for packets."""

    instructions: float | None
    rate: float
    interrupts: float


def between(text: str) -> Count:
    """Of the plugin's last two lines."""
    first, last = ([int(word) for word in line.split()] for line in text.splitlines()[-2:])
    return Count(last[0] - first[0], (last[2] - first[2]) / 1e6)


def per_packet(count: Count, idle: Count, packets: int) -> float | None:
    """Instructions of the kernel for a packet, without those that it executes for no packet at all.

    None if these are more than half: a busy system has made the run too long.
    """
    own = idle.kernel * count.seconds / idle.seconds
    return (count.kernel - own) / packets if own <= count.kernel / 2 else None


def check_passed(card: str, passed: int, frames: int) -> None:
    """Ends the bench if a card has passed too few of the frames of a run."""
    if passed < LEAST_PASSED[card] * frames:
        raise SystemExit(f"bench-host: {card}: {passed} of {frames} frames passed")


def figures(runs: dict[str, list[Run]], point: dict[str, object]) -> list[Figure]:
    """Of the cards at one point, and of ours against the others."""
    found = []
    medians = {}
    for peer, ones in runs.items():
        for name, unit, values in (
            ("packets_per_second", "packets/s", [round(one.rate) for one in ones]),
            ("interrupts_per_packet", "interrupts", [round(one.interrupts, 3) for one in ones]),
            (
                "instructions_per_packet",
                "instructions",
                [round(one.instructions) for one in ones if one.instructions is not None],
            ),
        ):
            if not values:
                continue
            spread = {"min": min(values), "max": max(values)}
            medians[name, peer] = statistics.median(values)
            found.append(
                Figure(name, point | {"peer": peer}, medians[name, peer], unit, runs=len(values), spread=spread)
            )
    for peer in list(CARDS)[1:]:
        for name in ("packets_per_second", "instructions_per_packet"):
            if (name, peer) not in medians or (name, "meridian") not in medians:
                continue
            other = medians[name, peer]
            ratio = round(medians[name, "meridian"] / other, 3)
            reference = {"value": other, "source": f"{peer}, same run"}
            found.append(Figure(f"{name}_ratio", point | {"peer": peer}, ratio, "x", reference=reference))
    return found


class Bench:
    """A machine with the three cards, and the far ends of their wires in one namespace."""

    def __init__(self, twin: Twin, machine: Machine, marks: Path, load: Path) -> None:
        self.twin, self.machine, self.marks, self.load = twin, machine, marks, load
        self._interfaces: dict[str, str] = {}

    def set_up(self) -> None:
        self.machine.run(
            "sysctl -qw net.core.default_qdisc=pfifo_fast net.ipv6.conf.default.disable_ipv6=1 && "
            "modprobe virtio_net && modprobe igb && sleep 1; ip -4 address flush dev eth0",
            check=True,
        )
        for card, wire in CARDS.items():
            # Long enough for all frames of a run, so that the far end loses none however slow the card is.
            self.twin.peer.do("ip", "link", "set", wire, "txqueuelen", str(2 * max(FRAMES.values())))
            self.twin.peer.do("ip", "link", "set", wire, "up")
            find = f"cd /sys/class/net; for i in *; do case $(readlink $i/device/driver) in */{DRIVERS[card]}) echo $i;; esac; done"
            names = self.machine.run(find, check=True).text.split()
            if len(names) != 1:
                raise SystemExit(f"the machine has {len(names)} interfaces of {card}")
            self._interfaces[card] = names[0]
            self.machine.run(
                f"ip link set {names[0]} up && tc qdisc add dev {names[0]} clsact && "
                f"tc filter add dev {names[0]} ingress matchall action drop",
                check=True,
            )
            self._wait_link(card)
        self.machine.run(f"ethtool -G {self._interfaces['igb']} rx 4096", check=True)
        self._wait_link("igb")

    def _wait_link(self, card: str) -> None:
        file = f"/sys/class/net/{self._interfaces[card]}/carrier"
        self.machine.run(f"for i in $(seq 300); do grep -q 1 {file} && exit; sleep 0.1; done; exit 1", check=True)

    def queues(self, count: int) -> None:
        for card, interface in self._interfaces.items():
            # Status 80: it is so already, says an ethtool that wants a change.
            script = f"ethtool -L {interface} combined {count}; ethtool -l {interface} | tail -n 2 | grep -q 'Combined:.*{count}'"
            self.machine.run(script, check=True)
            self._wait_link(card)

        # Else a slow card is given a frame at a time.
        for interface in self._interfaces.values():
            self.machine.run(
                f"for f in /sys/class/net/{interface}/queues/tx-*/byte_queue_limits/limit_min; do echo 1000000 >$f; done",
                check=True,
            )

    def idle(self) -> Count:
        self.machine.run(f"{LOAD} idle {self._interfaces['meridian']} {IDLE_SECONDS}", check=True)
        return self._counted()

    def transmit(self, card: str, size: int, queues: int, idle: Count, frames: int) -> Run:
        frames -= frames % queues  # each queue's thread sends as many
        command = f"{LOAD} send {self._interfaces[card]} {NOBODY} {size} {frames} {queues}"
        before = self._interrupts(card)
        said = self.machine.run(command, 300, check=True).text
        return self._result(card, said, idle, frames, self._interrupts(card) - before)

    def receive(self, card: str, size: int, queues: int, idle: Count, frames: int) -> Run:
        interface = self._interfaces[card]
        to = self.machine.run(f"cat /sys/class/net/{interface}/address", check=True).text.strip()
        said = bytearray()
        before = self._interrupts(card)

        def hear(data: bytes) -> None:
            ready = b"ready" not in said
            said.extend(data)
            if ready and b"ready" in said:
                self.twin.peer.do(str(self.load), "send", CARDS[card], to, str(size), str(frames), "1")

        self.machine.run(f"{LOAD} watch {interface} {frames}", 300, stdout=hear, check=True)
        return self._result(card, said.decode().split("ready")[1], idle, frames, self._interrupts(card) - before)

    def _interrupts(self, card: str) -> int:
        """Those of the card so far, of all its vectors and by all processors."""
        vectors = f"$(ls /sys/class/net/{self._interfaces[card]}/device/msi_irqs /sys/class/net/{self._interfaces[card]}/device/../msi_irqs 2>/dev/null)"
        sums = 'NR == FNR {wanted[$1 ":"]; next} $1 in wanted {for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i} END {print sum + 0}'
        script = f"printf '%s\\n' {vectors} | awk '{sums}' - /proc/interrupts"
        return int(self.machine.run(script, check=True).text)

    def _counted(self) -> Count:
        return between(self.marks.read_text())

    def _result(self, card: str, said: str, idle: Count, frames: int, interrupts: int) -> Run:
        passed, nanoseconds = (int(word) for word in said.split())
        check_passed(card, passed, frames)
        return Run(per_packet(self._counted(), idle, passed), passed / nanoseconds * 1e9, interrupts / passed)


def measure(bench: Bench, directions: list[str], quick: bool) -> list[Figure]:
    found = []
    for queues in QUEUES:
        bench.queues(queues)
        idle = bench.idle()
        print(
            f"  {queues} queue(s): {idle.kernel / idle.seconds:.0f} instructions a second without a frame", flush=True
        )
        for direction in directions:
            act = bench.receive if direction == "rx" else bench.transmit
            for size in SIZES if direction == "rx" else (*SIZES, LARGE):
                runs: dict[str, list[Run]] = {}
                for card, frames in (LARGE_FRAMES if size == LARGE else FRAMES).items():
                    frames //= 4 if quick else 1
                    act(card, size, queues, idle, 20 if size == LARGE else 200)  # rings and caches as they stay
                    runs[card] = [act(card, size, queues, idle, frames) for _ in range(1 if quick else 3)]
                    print(f"  {direction} {size} B, {queues} queue(s), {card}: {runs[card]}", flush=True)
                found += figures(runs, {"direction": direction, "bytes": size, "queues": queues})
    return found


def hardware(marks: Path, plugin: Path) -> Hardware:
    """A machine with the other cards beside ours."""
    nets = [
        (
            "virtio0",
            f",queues={max(QUEUES)}",
            f"virtio-net-pci,mq=on,vectors={2 * max(QUEUES) + 2},netdev=virtio0,romfile=",
        ),
        ("igb0", "", "igb,bus=igbport,netdev=igb0,romfile="),
    ]
    extra = ["-plugin", f"{plugin},out={marks}", "-device", "pcie-root-port,id=igbport,chassis=9,addr=9"]
    for name, more, device in nets:
        extra += ["-netdev", f"tap,id={name},ifname={name},script=no,downscript=no{more}", "-device", device]
    return Hardware(cpus=2, extra=extra)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/bench-host", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure with few frames, and each case once")
    parser.add_argument("--direction", choices=("rx", "tx"), help="measure one direction (both)")
    arguments = parser.parse_args()
    directions = [arguments.direction] if arguments.direction else ["rx", "tx"]
    with tempfile.TemporaryDirectory(prefix="meridian-bench-") as name:
        folder = Path(name)
        load, marks, qemu = folder / "net_load", folder / "marks", folder / "qemu"
        command = ["gcc", "-static", "-O2", "-Wall", "-Werror", "-pthread", "-o", str(load), str(SOURCE)]
        subprocess.run(command, check=True, timeout=60)
        program = subprocess.run(
            [SOURCE.parents[2] / "scripts" / "build" / "build-qemu"], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.splitlines()[-1]
        plugin = Path(program).parents[1] / "lib" / "libcount_instructions.so"
        with Twin(Setting(hardware=hardware(marks, plugin)), folder) as twin:
            # QEMU makes the wires of the other cards where ours has its own.
            qemu.write_text(f'#!/bin/sh\nexec {shlex.join(twin.peer.enter)} {shlex.quote(program)} "$@"\n')
            qemu.chmod(0o755)
            twin.host.qemu = qemu
            twin.host.files["net_load"] = load
            with twin.machine() as machine:
                bench = Bench(twin, machine, marks, load)
                bench.set_up()
                found = measure(bench, directions, arguments.quick)
                trouble = machine.run("dmesg | grep -E 'WARNING|BUG|Call Trace'").text
                machine.power_off()
    if trouble:
        raise SystemExit(f"the kernel complains: {trouble}")
    write("host", "emulated guest (QEMU TCG) on the simulated card", found)
    counted = [figure for figure in found if figure.id == "instructions_per_packet"]
    sizes = len(SIZES) * len(directions) + ("tx" in directions)
    missing = len(QUEUES) * sizes * len(CARDS) - len(counted)
    if missing:
        print(f"host: {missing} counts are left out: this system is too busy, the runs took too long", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
