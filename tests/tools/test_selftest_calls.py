# SPDX-License-Identifier: Apache-2.0
"""The self-test program's own system calls: ethtool's, answered as linux/ethtool.h has them, and frames on the loopback."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest
from meridian_selftest import ethtool, frames

U8, U32, U64 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64
WORDS = ["rx_frames", "tx_frames", "a" * 31]
#: Of ethtool's system call, its commands, and the sets of strings.
CALL, FLAGS, SET_FLAGS = 0x8946, 0x8913, 0x8914
DRVINFO, REGS, TEST, STRINGS, STATS, SSET_INFO = 0x03, 0x04, 0x1A, 0x1B, 0x1D, 0x37
OF_TESTS, OF_STATS = 0, 1


def structure(*fields: tuple[str, object]) -> type[ctypes.Structure]:
    return type("Structure", (ctypes.Structure,), {"_fields_": list(fields)})


DRIVER = structure(
    ("cmd", U32),
    *((name, ctypes.c_char * 32) for name in ("driver", "version", "fw_version", "bus_info", "erom_version")),
    ("reserved2", ctypes.c_char * 12),
    *((name, U32) for name in ("n_priv_flags", "n_stats", "testinfo_len", "eedump_len", "regdump_len")),
)
DUMP = structure(("cmd", U32), ("version", U32), ("len", U32), ("data", U8 * 8))
SETS = structure(("cmd", U32), ("reserved", U32), ("sset_mask", U64), ("data", U32 * 1))
NAMES = structure(("cmd", U32), ("string_set", U32), ("len", U32), ("data", ctypes.c_char * 32 * 3))
COUNTS = structure(("cmd", U32), ("n_stats", U32), ("data", U64 * 3))
RESULTS = structure(("cmd", U32), ("flags", U32), ("reserved", U32), ("len", U32), ("data", U64 * 3))


class Kernel:
    """Answers as the kernel does for a driver with three statistics and three tests."""

    def __init__(self) -> None:
        self.error = 0
        self.flags = 0x1002
        self.asked: list[tuple[int, int]] = []
        self.sets = {OF_TESTS, OF_STATS}

    def ioctl(self, _: int, request: int, ifreq: bytearray) -> int:
        assert ifreq[:16] == b"eth7".ljust(16, b"\0") and len(ifreq) == 40
        if self.error:
            raise OSError(self.error, "no")
        if request == FLAGS:
            struct.pack_into("h", ifreq, 16, self.flags)
        elif request == SET_FLAGS:
            (self.flags,) = struct.unpack_from("h", ifreq, 16)
        else:
            assert request == CALL
            (address,) = struct.unpack_from("P", ifreq, 16)
            self.answer(address)
        return 0

    def answer(self, at: int) -> None:
        command = U32.from_address(at).value
        if command == DRVINFO:
            driver = DRIVER.from_address(at)
            driver.driver, driver.version, driver.fw_version = b"meridian", b"0.1", b"map 1.12, build 01234567"
        elif command == REGS:
            dump = DUMP.from_address(at)
            assert dump.len == 1 << 16
            dump.version, dump.len = 2, 8
            dump.data[:] = bytes.fromhex("0100000002000000")
        elif command == SSET_INFO:
            sets = SETS.from_address(at)
            wanted = sets.sset_mask.bit_length() - 1
            if wanted in self.sets:
                sets.data[0] = 3
            else:
                sets.sset_mask = 0
        elif command == STRINGS:
            names = NAMES.from_address(at)
            for number in range(names.len):
                names.data[number].value = WORDS[number].encode()
        elif command == STATS:
            # Linux looks at the driver's count alone, whatever the caller has memory for.
            counts = COUNTS.from_address(at)
            counts.n_stats, counts.data[:] = 3, [1 << 40, 2, 3]
        else:
            assert command == TEST
            results = RESULTS.from_address(at)
            self.asked.append((results.flags, results.len))
            results.data[:] = [0, 5, 74]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel()
    monkeypatch.setattr(fcntl, "ioctl", kernel.ioctl)
    return kernel


def test_ethtools_driver_info_and_registers_are_read(kernel: Kernel) -> None:
    assert ethtool.driver("eth7") == ("meridian", "0.1", "map 1.12, build 01234567")
    assert ethtool.registers("eth7") == (2, [1, 2])


def test_statistics_and_test_results_are_read_by_their_names(kernel: Kernel) -> None:
    assert ethtool.statistics("eth7") == dict(zip(WORDS, [1 << 40, 2, 3], strict=True))
    assert ethtool.self_test("eth7", ethtool.TEST_OFFLINE) == dict(zip(WORDS, [0, 5, 74], strict=True))
    assert kernel.asked == [(1, 3)]
    kernel.sets.clear()
    assert ethtool.statistics("eth7") == {}


def test_an_interface_is_set_up_and_down(kernel: Kernel) -> None:
    assert not ethtool.is_up("eth7")
    ethtool.set_up("eth7", True)
    assert ethtool.is_up("eth7") and kernel.flags == 0x1003
    ethtool.set_up("eth7", False)
    assert not ethtool.is_up("eth7") and kernel.flags == 0x1002


def test_a_call_to_a_detached_interface_raises_detached(kernel: Kernel) -> None:
    kernel.error = errno.ENODEV
    with pytest.raises(ethtool.Detached, match="eth7 is detached"):
        ethtool.driver("eth7")
    kernel.error = errno.EPERM
    with pytest.raises(PermissionError):
        ethtool.statistics("eth7")


def test_no_answer_of_the_kernel_is_written_behind_its_memory() -> None:
    """Python's memory with marks behind each piece of it, which are looked at when the piece is freed."""
    name = test_statistics_and_test_results_are_read_by_their_names.__name__
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"{__file__}::{name}"],
        env={**os.environ, "PYTHONMALLOC": "debug"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def pair() -> Iterator[tuple[frames.Frames, frames.Frames]]:
    """Two sockets on the loopback, which brings each frame back to both."""
    try:
        with frames.opened("lo", bypass=True) as one, frames.opened("lo") as other:
            yield one, other
    except PermissionError:
        pytest.skip("sockets for frames are root's")


def test_frames_come_and_are_counted(pair: tuple[frames.Frames, frames.Frames]) -> None:
    one, other = pair
    assert all(one.send(number) for number in range(5)) and one.sent(5)
    assert not one.waiting() and other.receive() == 5 and other.receive() == 0
    assert other.send(5) and one.receive() >= 1
    one.close()
    assert not one.send(6) and one.refusal == "Bad file descriptor"
