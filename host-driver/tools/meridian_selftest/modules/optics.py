# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""What a module tells of itself over I2C: an SFP, SFP+ or SFP28 by SFF-8472, a QSFP+ or QSFP28 by SFF-8636."""

from __future__ import annotations

import ctypes
import errno
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fcntl import ioctl
from pathlib import Path

#: Addresses of a module's two memories on its bus; a QSFP has the first alone.
IDENTITY, DIAGNOSIS = 0x50, 0x51
SFP, QSFPS = 0x03, (0x0D, 0x11)
QSFP_LANES = 4
#: A QSFP's flags stay until they are read, by whomever and for whichever lane; what lasts sets them again within this time
#: (ton_flag of SFF-8679).
FLAG_SECONDS = 0.2
#: What Linux reports if nothing answers at an address, by driver of the bus.
NO_ANSWER = (errno.ENXIO, errno.EREMOTEIO)
#: A module reports optical power in units of 0.1 uW, which are so many of a milliwatt.
UNITS = 10000
#: Why a module does not measure.
COPPER, UNCALIBRATED = (
    "it measures no light, as copper does not",
    "its numbers need a calibration that is not done here",
)
#: Of Linux's i2c-dev.
_SLAVE, _SMBUS, _READ, _BLOCK, _BLOCK_MOST = 0x0703, 0x0720, 1, 8, 32
#: Bytes of one transfer. Linux's sfp.c reads no more at once, because some modules and buses fail then.
_BYTES = 16

#: Reads so many bytes from an offset of the memory at an address. Raises OSError if nothing answers.
Read = Callable[[int, int, int], bytes]


class _Transfer(ctypes.Structure):
    """struct i2c_smbus_ioctl_data."""

    _fields_ = (
        ("read_write", ctypes.c_uint8),
        ("command", ctypes.c_uint8),
        ("size", ctypes.c_uint32),
        ("data", ctypes.c_void_p),
    )


@contextmanager
def opened(bus: Path) -> Iterator[Read]:
    """An I2C bus of Linux's. Raises OSError if it cannot be opened."""
    handle = os.open(bus, os.O_RDWR)

    def block(offset: int, count: int) -> bytes:
        data = (ctypes.c_uint8 * (_BLOCK_MOST + 2))(count)
        ioctl(handle, _SMBUS, _Transfer(_READ, offset, _BLOCK, ctypes.addressof(data)))
        return bytes(data[1 : 1 + data[0]])

    def read(address: int, offset: int, count: int) -> bytes:
        ioctl(handle, _SLAVE, address)
        ends = range(offset, offset + count, _BYTES)
        return b"".join(block(start, min(_BYTES, offset + count - start)) for start in ends)

    try:
        yield read
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Module:
    """name: its vendor and part. celsius, milliwatts: None if it does not measure. lowest, highest, coldest,
    hottest: its own bounds of what it receives and of its temperature. sent, least: what its laser sends in milliwatts, None
    if it does not measure that, and its own bound. faults: what it says is wrong, in sentences without a subject.
    reason: why it does not measure. is_ready: its numbers are of now."""

    name: str
    celsius: float | None = None
    milliwatts: float | None = None
    lowest: float = 0
    highest: float = math.inf
    coldest: float = -math.inf
    hottest: float = math.inf
    sent: float | None = None
    least: float = 0
    faults: list[str] = field(default_factory=list)
    reason: str = COPPER
    is_ready: bool = True

    @property
    def is_dark(self) -> bool:
        return self.milliwatts is not None and self.milliwatts < self.lowest


class DamagedError(Exception):
    """What was read is not a module's memory."""


class PageError(Exception):
    """Somebody else has selected another page of the module's memory."""


def dbm(milliwatts: float) -> str:
    """In the unit of data sheets."""
    return f"{10 * math.log10(milliwatts):.1f} dBm" if milliwatts > 0 else "no light"


def _word(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 2], "big")


def _celsius(data: bytes, offset: int) -> float:
    return int.from_bytes(data[offset : offset + 2], "big", signed=True) / 256


def _milliwatts(data: bytes, offset: int) -> float:
    return _word(data, offset) / UNITS


def _text(data: bytes) -> str:
    return data.decode("ascii", errors="replace").strip(" \0")


def _checked(data: bytes, last: int) -> bytes:
    """The sum of the first bytes is in the one behind them."""
    if sum(data[:last]) & 0xFF != data[last]:
        raise DamagedError(
            f"the checksum of bytes 0 to {last - 1} is {sum(data[:last]) & 0xFF:#04x}, not {data[last]:#04x}"
        )
    return data


def _sfp(read: Read) -> Module:
    about = _checked(read(IDENTITY, 0, 96), 63)
    name = f"{_text(about[20:36])} {_text(about[40:56])}"
    kind, options = about[92], about[93]
    # Diagnostics are there, and at the usual address.
    if not kind & 0x40 or kind & 0x04:
        return Module(name)
    try:
        bounds, now = read(DIAGNOSIS, 0, 40), read(DIAGNOSIS, 96, 16)
    except OSError as error:
        if error.errno not in NO_ANSWER:
            raise
        raise DamagedError(f"it claims to measure, but {DIAGNOSIS:#x} does not answer ({error.strerror})") from None
    status = now[14]
    faults = []
    if options & 0x20 and status & 0x04:
        faults.append("its transmitter has a fault")
    if options & 0x10 and status & 0x02:
        faults.append("it receives no signal")
    # Only of a module that is calibrated do the numbers have units.
    if not kind & 0x20:
        return Module(name, faults=faults, reason=UNCALIBRATED)
    if status & 0x01:
        return Module(name, faults=faults, is_ready=False)
    found = Module(name, _celsius(now, 0), _milliwatts(now, 8), faults=faults)
    # What it has no limits of has zeros there.
    if any(bounds[32:36]):
        found = replace(found, highest=_milliwatts(bounds, 32), lowest=_milliwatts(bounds, 34))
    if any(bounds[0:4]):
        found = replace(found, hottest=_celsius(bounds, 0), coldest=_celsius(bounds, 2))
    if any(bounds[24:28]):
        found = replace(found, sent=_milliwatts(now, 6), least=_milliwatts(bounds, 26))
    return found


def _qsfp(read: Read, lane: int) -> Module:
    (flat,), (page,) = read(IDENTITY, 2, 1), read(IDENTITY, 127, 1)
    if page and not flat & 0x04:
        raise PageError(f"its page {page} is selected, and its identity is on page 0")
    about = _checked(read(IDENTITY, 128, 96), 63)
    name = f"{_text(about[20:36])} {_text(about[40:56])}"
    # Copper measures nothing (device technology).
    if about[19] >> 4 >= 0xA:
        return Module(name)
    read(IDENTITY, 0, 58)
    time.sleep(FLAG_SECONDS)
    now = read(IDENTITY, 0, 58)
    faults = []
    if now[4] >> lane & 1:
        faults.append(f"the transmitter of its lane {lane} has a fault")
    if now[3] >> lane & 1:
        faults.append(f"its lane {lane} receives no signal")
    if now[2] & 0x01:
        return Module(name, faults=faults, is_ready=False)
    # Its bounds are on a page that somebody else may have selected another of.
    found = Module(name, _celsius(now, 22), _milliwatts(now, 34 + 2 * lane), faults=faults)
    # It need not measure what it sends. The least that it can tell is no light.
    return replace(found, sent=_milliwatts(now, 50 + 2 * lane), least=1 / UNITS) if about[92] & 0x04 else found


def module(read: Read, lane: int = 0) -> Module:
    """The one on a bus. lane: of a QSFP. Raises OSError if there is none, DamagedError if it tells nonsense,
    PageError if its identity is not to be seen now."""
    (kind,) = read(IDENTITY, 0, 1)
    if kind == SFP:
        return _sfp(read)
    if kind in QSFPS:
        return _qsfp(read, lane)
    raise DamagedError(f"its identifier is {kind:#04x}, neither an SFP's nor a QSFP's")
