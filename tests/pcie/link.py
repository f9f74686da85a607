# SPDX-License-Identifier: Apache-2.0
"""The link that drivers of meridian_twin use, over the root complex.

Drivers call and wait. They run in a greenlet beside the simulation, see `drive`, and time passes while they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from cocotb.triggers import Timer
from cocotbext.pcie.core.pci import PciDevice
from greenlet import getcurrent, greenlet
from host import Host

Value = TypeVar("Value")

LOOK_NS = 200  # between two looks of wait
WAIT_NS = 200_000
ACCESS_NS = 60_000


async def drive(work: Callable[..., Value], *arguments: Any) -> Value:
    """Runs what a driver does; what it waits for is awaited here."""
    worker = greenlet(work)
    step = worker.switch(*arguments)
    while not worker.dead:
        try:
            value = await step
        except Exception as error:  # noqa: BLE001 it is the driver's
            step = worker.throw(error)
        else:
            step = worker.switch(value)
    return step


def wait_for(step: Coroutine[Any, Any, Value]) -> Value:
    """From within `drive`."""
    return getcurrent().parent.switch(step)


class HostLink:
    """Registers of the functions, in order of their numbers."""

    def __init__(self, host: Host, functions: list[PciDevice]) -> None:
        self.host = host
        self.functions = functions

    def address(self, function: int, bar: int, offset: int) -> int:
        return self.functions[function].bar_addr[bar] + offset

    def read(self, function: int, bar: int, offset: int, width: int = 4) -> int:
        data = wait_for(self.host.mem_read(self.address(function, bar, offset), width, ACCESS_NS, "ns"))
        return int.from_bytes(data, "little")

    def write(self, function: int, bar: int, offset: int, value: int, width: int = 4) -> None:
        wait_for(self.host.mem_write(self.address(function, bar, offset), value.to_bytes(width, "little")))

    def write_words(self, function: int, bar: int, offset: int, words: Sequence[int]) -> None:
        """In one request."""
        data = b"".join(word.to_bytes(4, "little") for word in words)
        wait_for(self.host.mem_write(self.address(function, bar, offset), data))

    def doorbell(self, function: int, page: int, queue: int, register: int, value: int) -> None:
        self.write(function, 0, page + 16 * queue + register, value)

    def wait(self, done: Callable[[], bool], what: str, seconds: float | None = None) -> None:
        limit = WAIT_NS if seconds is None else round(seconds * 1e9)
        for _ in range(limit // LOOK_NS):
            if done():
                return
            wait_for(_pass(LOOK_NS))
        raise AssertionError(f"{what}, after {limit / 1000:.0f} us")


async def _pass(time_ns: int) -> None:
    await Timer(time_ns, "ns")
