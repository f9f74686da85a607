# SPDX-License-Identifier: Apache-2.0
"""A VF in hostile hands: it costs the PF and other VFs nothing, its PF tells of it, and a driver may have it again.

The machine has an IOMMU: a VF that may read and write all memory needs no mailbox to do harm.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driver_machine import PF_DEVICE, Guest
from host_leaks import CHECKED, held
from host_network import FAR, MEGABYTE, Function, Network, network
from meridian_machine import Hardware, tools

pytestmark = pytest.mark.qemu
ATTACKER = f"{PF_DEVICE}/virtfn0"
DEVLINK = "pci/0000:01:00.0"
DRIVER = "/sys/bus/pci/drivers/meridian"
PART = 25_000  # messages and doorbells between two resets of the VF
MILLION = int(os.environ.get("MERIDIAN_ATTACK", "1000000"))
SLOW = 10  # messages a second: a simulated PF reads them slowly, and would not call it a flood
LOST = ("card_rx_queue_full", "card_rx_copy_cut", "card_rx_disabled", "card_rx_bad_queue", "card_tx_spoof")


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    program, library = tmp_path_factory.mktemp("attack") / "vf_attack", tools.ROOT / "host-driver" / "qdma"
    sources = [Path(__file__).with_name("vf_attack.c"), *sorted(library.glob("*.c"))]
    command = ["gcc", "-static", "-O2", "-Wall", "-Werror", f"-I{library}", "-o", program, *sources]
    subprocess.run(command, check=True, timeout=60)
    hardware = Hardware(iommu=True, kernel=CHECKED.kernel)
    with network(vfs=0, hardware=hardware, files={"vf_attack": program}) as it:
        it.guest.run(f"devlink dev param set {DEVLINK} name vf_message_rate value {SLOW} cmode driverinit")
        it.guest.run(f"devlink dev reload {DEVLINK}", 120)
        it.pf.up()
        it.make_vfs(2)
        yield it
        it.end_vfs()


def counters(function: Function) -> dict[str, int]:
    return function.guest.statistics(function.interface, function.enter)


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


def attack(guest: Guest, device: str, operations: int) -> list[int]:
    """Messages, doorbells and answers. The VF is reset between the parts, under the eyes of its PF."""
    totals = [0, 0, 0]
    for part, start in enumerate(range(0, operations, PART)):
        count = min(PART, operations - start)
        text = guest.run(f"/run/twin/vf_attack {device} {count} {part + 1}", 120 + count // 20)
        totals = [total + int(word) for total, word in zip(totals, text.split(), strict=True)]
        guest.run(f"echo 1 >{device}/reset")
        guest.check()
    return totals


def bind(net: Network, name: str) -> None:
    net.guest.run(f"echo {name} >{DRIVER}/bind")
    interface = net.guest.run(f"ls {ATTACKER}/net").strip()
    net.guest.run(f"ip link set {interface} netns vf0 name {net.vfs[0].interface}")
    net.vfs[0].up()
    net.vfs[0].ping()


@pytest.mark.parametrize("operations", [10_000, pytest.param(MILLION, marks=pytest.mark.long)])
def test_a_vf_that_writes_nonsense_harms_nobody(net: Network, operations: int) -> None:
    guest, victims = net.guest, [net.pf, net.vfs[1]]
    device = guest.run(f"readlink -f {ATTACKER}").strip()
    name = device.rsplit("/", 1)[1]
    pings = Pings(*victims)
    digest = net.serve("file", MEGABYTE)
    # The same without an attack, so that what the kernel keeps for later is kept already.
    with pings.running():
        guest.run(f"echo {name} >{DRIVER}/unbind; sleep 3")
        assert [victim.download("file") for victim in victims] == [digest, digest]
        bind(net, name)
    usual = pings.lost()
    before, mail = held(guest), counters(net.pf)
    drops = [{key: counters(victim)[key] for key in LOST} for victim in victims]

    start = time.monotonic()
    guest.run(f"dmesg -C; echo {name} >{DRIVER}/unbind; echo 1 >{device}/enable")
    with pings.running():
        sent, rung, answered = attack(guest, device, operations)
        print(f"{operations} in {time.monotonic() - start:.0f} s")
        assert [victim.download("file") for victim in victims] == [digest, digest]
    print(f"{sent} messages, {rung} doorbells, {answered} answers taken")
    assert sent + rung >= operations
    assert min(sent, rung) > operations / 4
    assert pings.lost() <= usual
    assert [{key: counters(victim)[key] for key in LOST} for victim in victims] == drops
    now = {key: value - mail[key] for key, value in counters(net.pf).items() if key.startswith("vf_")}
    print(now)
    assert now["vf_messages"] > answered > 50, "its PF has listened"
    assert all(now[f"vf_{what}"] > 10 for what in ("messages_refused", "messages_slowed", "answers_untaken")), now
    log = [line for line in guest.log().splitlines() if "meridian" in line]
    for words in ("floods its PF with messages", "does not take its messages"):
        assert any(words in line for line in log), words
    assert len(log) < 100 + 3 * (time.monotonic() - start), "the log is not flooded"

    guest.run(f"echo 0 >{device}/enable")
    bind(net, name)
    for function in net.functions():
        function.ping()
    guest.check()
    after = held(guest)
    print(before, after)
    assert {cache: more for cache, more in before.grown(after).items() if more > 8} == {}
    assert after.mappings <= before.mappings
