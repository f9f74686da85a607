# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""All checks, in the order in which they are done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import arm, block, clock, counters, ethtool, identity, pcie, ports, sensors, traffic, vf
from .card import ArmCard, HostCard
from .context import Context
from .modules.check import modules
from .result import FAIL, PASS, SKIP, Fail, Line, Skip

OF_HOST = "this is the host's: run meridian-selftest there"
OF_ARM = "the host does not see it: run meridian-selftest on the card's ARM side"
#: The check that fails if an interface is detached.
TELLS = {HostCard: "driver", ArmCard: "ps"}


@dataclass(frozen=True)
class Check:
    """name: of its line. what: it looks at. host, arm: does it on this side of the card, or says why not. changes: what it changes, which --no-disturb leaves out; "" if nothing."""

    name: str
    what: str
    host: Callable[[Context], str | list[Line]] | str
    arm: Callable[[Context], str | list[Line]] | str
    changes: str = ""

    def run(self, context: Context, told: bool = True) -> list[Line]:
        """Its lines; most have one. told: another line tells of an interface that is detached."""
        side = self.host if isinstance(context.card, HostCard) else self.arm
        if isinstance(side, str):
            return [Line(self.name, SKIP, side)]
        try:
            said = side(context)
        except Fail as error:
            return [Line(self.name, FAIL, str(error))]
        except Skip as error:
            return [Line(self.name, SKIP, str(error))]
        except ethtool.Detached as error:
            return [self._detached(context, Line(self.name, SKIP, str(error)), told)]
        except Exception as error:  # noqa: BLE001 (the other checks are done all the same)
            text = f"{type(error).__name__}: {error}"
            return [Line(self.name, FAIL, f"the check itself met an error ({text}). Send us this line and 'dmesg'")]
        if isinstance(said, str):
            return [Line(self.name, PASS, said)]
        return [self._detached(context, line, told) if line.is_detached else line for line in said]

    def _detached(self, context: Context, line: Line, told: bool) -> Line:
        if told:
            return Line(line.name, SKIP, f"{line.text}: see the line of {TELLS[type(context.card)]}")
        reason = "the driver resets it, or has given the card up. 'dmesg | grep meridian' says why"
        return Line(line.name, FAIL, f"{line.text}: {reason}")


CHECKS = (
    Check("driver", "every PF has its driver and an interface", pcie.driver, OF_HOST),
    Check("bars", "size and address of the card's memory on PCIe", pcie.bars, OF_HOST),
    Check("map", "magic and version of the register map", identity.host_map, identity.arm_map),
    Check("bitstream", "board, git commit and date of the bitstream", identity.host_bitstream, identity.arm_bitstream),
    Check("pcie", "speed and width of the PCIe link", pcie.link, OF_HOST),
    Check("payload", "MPS and MRRS of PCIe", pcie.payload, OF_HOST),
    Check("registers", "the driver's tests of registers and tables", identity.registers, OF_HOST),
    Check("module", "module and its light, a line for each port", OF_ARM, modules),
    Check("link", "link, a line for each port", ports.host_links, ports.arm_links),
    Check("interrupts", "every vector of the queue pairs fires", traffic.interrupts, OF_HOST),
    Check("latency", "time from a doorbell to its completion", traffic.latency, OF_HOST),
    Check("ps", "rings of the card's ARM side", arm.host_rings, arm.arm_rings),
    Check("phc", "drift of the PTP clock against the machine's", OF_ARM, clock.drift),
    Check("pps", "pulse per second of the PTP clock", OF_ARM, clock.pulse, "switches the pulse on if it is off"),
    Check("sensors", "temperatures and voltages", OF_ARM, sensors.sensors),
    Check(
        "vf",
        "vectors of a VF and of its messages, and its function level reset under load",
        vf.reset_under_load,
        OF_HOST,
        "makes a VF, resets it, removes it",
    ),
    Check(
        "dma-pattern",
        "256 MiB of a pattern by DMA both ways through every queue",
        block.pattern,
        OF_HOST,
        "takes the traffic of each interface away for about 2 s",
    ),
    Check(
        "port-loops",
        "each port's loops with frames of 64 to 9600 bytes",
        block.loops,
        block.arm_loops,
        "takes each port from the host for some seconds",
    ),
    Check("counters", "what came in was delivered, or a counter says why not", counters.add_up, OF_HOST),
)
