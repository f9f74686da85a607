# SPDX-License-Identifier: Apache-2.0
"""The link's messages, as twin/card/include/meridian_link.h has them (a test compares the two)."""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass, fields
from enum import IntEnum
from typing import ClassVar, Self

MAGIC = 0x4C52444D
VERSION = 3
MAX_PAYLOAD = 65536
MAX_REGIONS = 16
MAX_REQUESTS = 64
MAX_DOORBELLS = 2048
ALL_FUNCTIONS = 0xFFFF
REPLY = 0x80
LOCKSTEP = 1


class Role(IntEnum):
    PCIE = 0
    AXI = 1
    PCIE_FUNCTION = 2


class Type(IntEnum):
    HELLO = 1
    MEMORY = 2
    FORGET = 3
    BAR_READ = 4
    BAR_WRITE = 5
    DMA_READ = 6
    DMA_WRITE = 7
    MSIX = 8
    INTERRUPT = 9
    FUNCTION = 10
    RESET_FUNCTION = 11
    RESET = 12
    ADVANCE = 13
    ERROR = 14
    DOORBELLS = 15
    WAKE = 16
    FUNCTION_STATE = 17


class Status(IntEnum):
    OK = 0
    UNSUPPORTED = 1
    INVALID = 2
    BUSY = 3


@dataclass(frozen=True)
class _Layout:
    """Fields in the order of the C structure."""

    _format: ClassVar[struct.Struct]

    def pack(self) -> bytes:
        return self._format.pack(*astuple(self))

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        return cls(*cls._format.unpack(data))

    @classmethod
    def length(cls) -> int:
        return cls._format.size

    @classmethod
    def names(cls) -> list[str]:
        return [field.name for field in fields(cls)]


@dataclass(frozen=True)
class Header(_Layout):
    _format = struct.Struct("<IHHIHBBQQ")
    size: int
    type: int
    status: int = 0
    tag: int = 0
    function: int = 0
    bar: int = 0
    width: int = 0
    address: int = 0
    value: int = 0


@dataclass(frozen=True)
class Hello(_Layout):
    _format = struct.Struct("<IHHII48s")
    magic: int
    version: int
    role: int
    flags: int
    function: int
    name: bytes


@dataclass(frozen=True)
class Welcome(_Layout):
    """What the card says of itself; sizes in bytes, time in ps of twin time."""

    _format = struct.Struct("<IHBBHHIIIIIIHHQ4sII4s")
    magic: int
    version: int
    ports: int
    pfs: int
    functions: int
    queues: int
    build_hash: int
    build_date: int
    bar0_bytes: int
    bar2_bytes: int
    vf_bar0_bytes: int
    vf_bar2_bytes: int
    device_id: int
    vf_device_id: int
    time_ps: int
    vfs: bytes = bytes(4)  # of each PF by the card's making; zeros: the host shares them
    bar4_bytes: int = 0  # of a PF; 0: it has none
    vf_bar4_bytes: int = 0
    reserved: bytes = bytes(4)


@dataclass(frozen=True)
class Region(_Layout):
    _format = struct.Struct("<QQQHB5s")
    address: int
    length_bytes: int
    offset: int
    function: int
    writable: int
    reserved: bytes = b"\0" * 5
