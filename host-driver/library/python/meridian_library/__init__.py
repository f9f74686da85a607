# SPDX-License-Identifier: BSD-3-Clause
"""A Meridian card for logic of your own: libmeridian in Python. The manual page libmeridian(3) says what its calls do."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import os
from types import TracebackType
from typing import Any, Self

AT_HOST = 4

__all__ = ["AT_HOST", "Card", "CardError", "Memory"]


class CardError(OSError):
    """What the library says, and the error of the system that it names."""


class _Memory(ctypes.Structure):
    _fields_ = (
        ("bytes", ctypes.c_void_p),
        ("address", ctypes.c_uint64),
        ("size", ctypes.c_size_t),
        ("huge", ctypes.c_bool),
    )


def _load() -> ctypes.CDLL:
    """The process may have it already, as where something else is preloaded: the first that has the name is taken."""
    name = os.environ.get("MERIDIAN_LIBRARY", "libmeridian.so.1")
    ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
    it = ctypes.CDLL(None)
    card, u32, u64, size = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
    number, memory = ctypes.c_uint, ctypes.POINTER(_Memory)
    signatures: dict[str, tuple[Any, ...]] = {
        "open": (ctypes.c_char_p, ctypes.POINTER(card)),
        "set_patience": (card, number),
        "allocate": (card, size, memory),
        "free": (card, memory),
        "read32": (card, u32, ctypes.POINTER(u32)),
        "write32": (card, u32, u32),
        "box_read": (card, number, u32, ctypes.POINTER(u32)),
        "box_write": (card, number, u32, u32),
        "lend": (card, ctypes.POINTER(number)),
        "take_back": (card, number),
        "to_card": (card, u64, memory, size, size),
        "from_card": (card, u64, memory, size, size),
        "close": (card,),
        "error": (card,),
    }
    for name, arguments in signatures.items():
        function = getattr(it, f"meridian_{name}")
        function.argtypes = arguments
        function.restype = None if name in ("set_patience", "free", "close") else ctypes.c_int
    it.meridian_error.restype = ctypes.c_char_p
    return it


class Memory:
    """Memory of program and card. address: where the card has it. It goes with its card, or by free()."""

    def __init__(self, card: Card, size: int) -> None:
        self._card, self._it = card, _Memory()
        card._do("allocate", size, ctypes.byref(self._it))
        self.address, self.size, self.huge = self._it.address, self._it.size, self._it.huge

    @property
    def view(self) -> memoryview:
        """Its bytes, to be read and written; not to be used when the memory has gone."""
        if not self._it.bytes or not self._card._card:
            raise ValueError("the memory has been given back")
        return memoryview((ctypes.c_char * self.size).from_address(self._it.bytes)).cast("B")

    def free(self) -> None:
        self._card._call("free", ctypes.byref(self._it))


class Card:
    """A PF of a card, by its name on PCIe, such as 0000:03:00.0. Use it as a context manager."""

    def __init__(self, name: str) -> None:
        self._library = _load()
        self._card = ctypes.c_void_p()
        status = self._library.meridian_open(name.encode(), ctypes.byref(self._card))
        if status:
            raise CardError(-status, self._library.meridian_error(None).decode())

    def close(self) -> None:
        self._library.meridian_close(self._card)
        self._card = ctypes.c_void_p()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, name: str, *arguments: Any) -> Any:
        if not self._card:
            raise ValueError("the card has been closed")
        function: Any = getattr(self._library, f"meridian_{name}")
        for argument, kind in zip(arguments, function.argtypes[1:], strict=True):
            # ctypes would leave out the upper bits.
            limit = 1 << 8 * ctypes.sizeof(kind)
            if isinstance(argument, int) and not 0 <= argument < limit:
                raise CardError(errno.EINVAL, f"{argument} does not fit: choose 0 to {limit - 1:#x}")
        return function(self._card, *arguments)

    def _do(self, name: str, *arguments: Any) -> None:
        if status := self._call(name, *arguments):
            raise CardError(-status, self._call("error").decode())

    def set_patience(self, milliseconds: int) -> None:
        self._call("set_patience", milliseconds)

    def allocate(self, size: int) -> Memory:
        return Memory(self, size)

    def read(self, offset: int) -> int:
        """A register in BAR2."""
        value = ctypes.c_uint32()
        self._do("read32", offset, ctypes.byref(value))
        return value.value

    def write(self, offset: int, value: int) -> None:
        self._do("write32", offset, value)

    def box_read(self, offset: int, box: int = AT_HOST) -> int:
        """A register of your module."""
        value = ctypes.c_uint32()
        self._do("box_read", box, offset, ctypes.byref(value))
        return value.value

    def box_write(self, offset: int, value: int, box: int = AT_HOST) -> None:
        self._do("box_write", box, offset, value)

    def lend(self) -> int:
        """Lets your module have all memory of this program; gives the queue that it is to name."""
        queue = ctypes.c_uint()
        self._do("lend", ctypes.byref(queue))
        return queue.value

    def take_back(self, queue: int) -> None:
        self._do("take_back", queue)

    def to_card(self, to: int, memory: Memory, offset: int = 0, size: int | None = None) -> None:
        self._do("to_card", to, ctypes.byref(memory._it), offset, memory.size - offset if size is None else size)

    def from_card(self, place: int, memory: Memory, offset: int = 0, size: int | None = None) -> None:
        self._do("from_card", place, ctypes.byref(memory._it), offset, memory.size - offset if size is None else size)
