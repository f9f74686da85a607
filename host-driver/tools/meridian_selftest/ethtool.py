# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""What the driver of an interface answers to ethtool's system calls (linux/ethtool.h), without the program ethtool."""

from __future__ import annotations

import array
import errno
import fcntl
import socket
import struct

SIOCETHTOOL = 0x8946
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
IFF_UP = 1
GDRVINFO, GREGS, TEST, GSTRINGS, GSTATS, GSSET_INFO = 0x03, 0x04, 0x1A, 0x1B, 0x1D, 0x37
STRINGS_TEST, STRINGS_STATS = 0, 1
STRING_BYTES = 32
TEST_OFFLINE, TEST_EXTERNAL = 1, 4
#: struct ethtool_drvinfo: cmd, driver, version, fw_version, bus_info, erom_version, reserved2, five numbers.
DRVINFO = struct.Struct("I32s32s32s32s32s12s5I")
REGS_BYTES = 1 << 16
#: Memory behind what a command asks for: Linux writes as many answers as the driver has now, not as many as it had before.
SPARE_BYTES = 1 << 16


class Detached(Exception):
    """The driver has taken the interface from Linux for now: no ethtool's call reaches it."""

    def __init__(self, interface: str) -> None:
        super().__init__(f"{interface} is detached")


def _ioctl(interface: str, request: int, payload: bytes) -> bytes:
    """struct ifreq with this behind the name; what the kernel has put there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        ifreq = bytearray(struct.pack("16s", interface.encode()) + payload.ljust(24, b"\0"))
        fcntl.ioctl(handle.fileno(), request, ifreq)
    return bytes(ifreq[16:])


def _ask(interface: str, command: bytes) -> bytes:
    """One command of ethtool, answered in place."""
    memory = array.array("B", command + bytes(SPARE_BYTES))
    address, _ = memory.buffer_info()
    try:
        _ioctl(interface, SIOCETHTOOL, struct.pack("P", address))
    except OSError as error:
        if error.errno == errno.ENODEV:
            raise Detached(interface) from None
        raise
    return memory.tobytes()[: len(command)]


def driver(interface: str) -> tuple[str, str, str]:
    """Name and version of the driver, and what it says of the card."""
    fields = DRVINFO.unpack(_ask(interface, DRVINFO.pack(GDRVINFO, *[b""] * 6, *[0] * 5)))
    name, version, firmware = (field.split(b"\0")[0].decode() for field in fields[1:4])
    return name, version, firmware


def registers(interface: str) -> tuple[int, list[int]]:
    """The dump of the registers: version of its format, and its words."""
    answer = _ask(interface, struct.pack("3I", GREGS, 0, REGS_BYTES) + bytes(REGS_BYTES))
    _, version, length = struct.unpack_from("3I", answer)
    return version, list(struct.unpack_from(f"{length // 4}I", answer, 12))


def _count(interface: str, strings: int) -> int:
    answer = _ask(interface, struct.pack("2IQI", GSSET_INFO, 0, 1 << strings, 0))
    _, _, mask, count = struct.unpack("2IQI", answer)
    return count if mask else 0


def _names(interface: str, strings: int, count: int) -> list[str]:
    answer = _ask(interface, struct.pack("3I", GSTRINGS, strings, count) + bytes(STRING_BYTES * count))
    texts = (answer[12 + STRING_BYTES * k : 12 + STRING_BYTES * (k + 1)] for k in range(count))
    return [text.split(b"\0")[0].decode() for text in texts]


def statistics(interface: str) -> dict[str, int]:
    """The driver's own, as `ethtool -S` has them."""
    count = _count(interface, STRINGS_STATS)
    answer = _ask(interface, struct.pack("2I", GSTATS, count) + bytes(8 * count))
    return dict(zip(_names(interface, STRINGS_STATS, count), struct.unpack_from(f"{count}Q", answer, 8)))


def self_test(interface: str, flags: int = 0) -> dict[str, int]:
    """The driver's self-test, which disturbs nothing without TEST_OFFLINE: 0 or an error by the test's name."""
    count = _count(interface, STRINGS_TEST)
    answer = _ask(interface, struct.pack("4I", TEST, flags, 0, count) + bytes(8 * count))
    return dict(zip(_names(interface, STRINGS_TEST, count), struct.unpack_from(f"{count}Q", answer, 16)))


def is_up(interface: str) -> bool:
    """Whether the administrator has set it up."""
    (flags,) = struct.unpack_from("h", _ioctl(interface, SIOCGIFFLAGS, b""))
    return bool(flags & IFF_UP)


def set_up(interface: str, up: bool) -> None:
    """As `ip link set INTERFACE up`."""
    (flags,) = struct.unpack_from("h", _ioctl(interface, SIOCGIFFLAGS, b""))
    _ioctl(interface, SIOCSIFFLAGS, struct.pack("h", flags | IFF_UP if up else flags & ~IFF_UP))
