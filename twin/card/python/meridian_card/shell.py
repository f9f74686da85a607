# SPDX-License-Identifier: Apache-2.0
"""The shell in the simulator: its registers, the host's queues, the wire."""

from __future__ import annotations

from meridian_twin.card import OKAY, SLVERR, Bus, Card, Geometry, RegisterError
from meridian_twin.registers import Registers

from .simulator import Simulator

__all__ = ["OKAY", "SLVERR", "Bus", "Geometry", "RegisterError", "Shell"]


class Shell(Card):
    """One card. Functions are numbered as QDMA does: PFs 0 to 3, VFs from 4 on."""

    def __init__(self, simulator: Simulator, registers: Registers | None = None) -> None:
        self.sim = simulator
        super().__init__(registers)

    def access(
        self, address: int, data: int | None = None, bus: Bus = "pf", function: int | None = None, strobe: int = 15
    ) -> tuple[int, int]:
        """(data, AXI response) of a read, or of a write if there is data; function: who asks, on the pf bus."""
        if data is None:
            event = self.sim.ask("read", bus=bus, addr=address, fn=function or 0)
        else:
            event = self.sim.ask("write", bus=bus, addr=address, data=data, fn=function or 0, strb=strobe)
        return event["data"], event["resp"]

    def function_reset(self, function: int) -> int:
        """Function level reset, until the card says that it is done; the time then, in ps."""
        self.sim.send("flr", fn=function)
        return self.sim.now_ns() * 1000

    # The PS's memory

    def read_memory(self, address: int, count: int) -> bytes:
        return bytes.fromhex(self.sim.ask("psmem_read", addr=address, len=count)["hex"])

    def write_memory(self, address: int, data: bytes) -> None:
        self.sim.send("psmem", addr=address, hex=data.hex())

    # The host and the wire

    def post(self, queue: int, count: int, size: int = 0) -> None:
        """The host adds receive buffers of size bytes (0: a frame takes one) to a queue."""
        while count:
            part = min(count, 65535)
            self.sim.send("post", queue=queue, count=part, size=size)
            count -= part

    def rx(self, frame: bytes, port: int = 0, bad: bool = False, at_ns: int = 0) -> None:
        """A frame comes in from the wire, at that time or once the ones before it are in; bad: its FCS is wrong."""
        self.sim.send("rx", port=port, hex=frame.hex(), bad=bad, at_ns=at_ns)

    def h2c(self, queue: int, frame: bytes, error: bool = False, metadata: int | None = None) -> None:
        """The host sends a frame; metadata: of its descriptor, random by default."""
        given = {} if metadata is None else {"metadata": metadata}
        self.sim.send("h2c", queue=queue, hex=frame.hex(), err=error, **given)

    def run(self, ns: int) -> None:
        self.sim.send("run", ns=ns)

    def drain(self, max_ns: int = 2_000_000) -> None:
        """Lets time pass until nothing moves at the pins."""
        self.sim.send("drain", max_ns=max_ns)
