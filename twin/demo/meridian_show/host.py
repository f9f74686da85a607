# SPDX-License-Identifier: Apache-2.0
"""The host machine in the demo: what its PF counts of all functions, and its traffic to the far end of the wire."""

from __future__ import annotations

import json
import re

from meridian_demo.reasons import REASONS
from meridian_machine import Machine
from meridian_machine import peer as far_end
from meridian_twin.control import Control

from .record import Counters, Record

PF_DEVICE = "/sys/bus/pci/devices/0000:01:00.0"
INTERFACE = "eth0"
LOOK = f"ip -j -s link show dev {INTERFACE} && ethtool -S {INTERFACE}"
STATISTIC = re.compile(r"^ +(\w+): (\d+)$", re.MULTILINE)
ANSWER = re.compile(r"time=([\d.]+) ms")
PING_LOG = "/tmp/demo-ping"


#: By name; of each what it received and sent: packets, bytes, dropped.
Functions = dict[str, dict[str, dict[str, int]]]


def pf_and_vfs(shown: str) -> Functions:
    """Statistics of each function by name, from what `ip -j -s link show` prints of the PF."""
    (link,) = json.loads(shown)
    found = {"PF": link["stats64"]}
    for vf in link.get("vfinfo_list", []):
        # Of what a VF sends, iproute2 says tx_packets, tx_bytes and tx_dropped.
        ways = {way: {name.removeprefix("tx_"): n for name, n in of.items()} for way, of in vf["stats"].items()}
        found[f"VF {vf['vf']}"] = ways
    return found


def dropped(link: Functions, shown: str) -> tuple[dict[str, int], dict[str, int]]:
    """Frames that the card dropped, by the names of REASONS, those there are; and by function those of them that found
    no free buffer. Of the PF and the port says `ethtool -S`, of VFs says `ip link`.
    """
    counts = {name: int(value) for name, value in STATISTIC.findall(shown)}
    found = {name: counts.get(f"card_{name}", 0) + counts.get(f"port_{name}", 0) for name in REASONS}
    full = {"PF": counts.get("card_rx_queue_full", 0)}
    for name, of in link.items():
        if name != "PF":
            full[name] = of["rx"].get("dropped", 0)
            found["rx_queue_full"] += full[name]
            found["tx_refused"] += of["tx"].get("dropped", 0)
    return {name: count for name, count in found.items() if count}, full


class Host:
    """Its driver is loaded, its interface is up."""

    def __init__(self, machine: Machine, control: Control, record: Record) -> None:
        self.machine, self._control, self._record = machine, control, record
        self._pinged = 0

    def run(self, script: str, seconds: float = 120) -> str:
        return self.machine.run(script, seconds, check=True).text

    def look(self) -> None:
        """Once: what has passed since."""
        text = self.run(LOOK)
        twin = self._control.ask("stats")["t_ps"] * 1e-12
        head, _, rest = text.partition("\n")
        if not head.startswith("["):
            raise ValueError(f"ip prints {head[:80]!r}")
        link = pf_and_vfs(head)
        ways = {name: (of["rx"], of["tx"]) for name, of in link.items()}
        self._record.counters.append(
            Counters(
                self._record.now(),
                twin,
                {name: (rx["packets"], tx["packets"]) for name, (rx, tx) in ways.items()},
                {name: (rx["bytes"], tx["bytes"]) for name, (rx, tx) in ways.items()},
                *dropped(link, rest),
            )
        )
        self._pings()

    def make_vfs(self, addresses: list[bytes]) -> None:
        """VFs with these addresses, which no driver takes by itself."""
        verbs = "\n".join(
            f"ip link set {INTERFACE} vf {number} mac {address.hex(':')} spoofchk on"
            for number, address in enumerate(addresses)
        )
        self.run(
            f"echo 0 >{PF_DEVICE}/sriov_drivers_autoprobe && echo {len(addresses)} >{PF_DEVICE}/sriov_numvfs\n{verbs}"
        )

    def start_traffic(self) -> None:
        """Pings and TCP of the PF to the far end, until the machine ends."""
        far = far_end.address(0, 1)
        self.run(
            f"setsid ping -i 1 -W 20 -s 1400 {far} >{PING_LOG} 2>&1 </dev/null &\n"
            f"setsid iperf3 -c {far} -t 3600 -b 500K -l 1400 >/tmp/demo-iperf 2>&1 </dev/null & sleep 0.1"
        )

    def _pings(self) -> None:
        done = self.machine.run(f"tail -c +{self._pinged + 1} {PING_LOG} 2>/dev/null", 60)
        self._pinged += len(done.stdout)
        now = self._record.now()
        self._record.pings += [(now, "PF", float(time)) for time in ANSWER.findall(done.text)]
