# SPDX-License-Identifier: Apache-2.0
"""DPDK's testpmd on the driver, and captures in libpcap's format."""

from __future__ import annotations

import contextlib
import os
import re
import struct
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from meridian_twin.patience import deadline_in, stretched
from plugin import plugin

MAGIC = 0xA1B2C3D4
FILE_HEADER = struct.Struct("<IHHIIII")
FRAME_HEADER = struct.Struct("<IIII")
SECONDS = 90


def write_capture(path: Path, frames: Sequence[bytes]) -> None:
    with path.open("wb") as file:
        file.write(FILE_HEADER.pack(MAGIC, 2, 4, 0, 0, 0xFFFF, 1))
        for frame in frames:
            file.write(FRAME_HEADER.pack(0, 0, len(frame), len(frame)) + frame)


def read_capture(path: Path) -> list[bytes]:
    """The whole frames; one that was cut short at the end is left out."""
    data = path.read_bytes()
    frames: list[bytes] = []
    at = FILE_HEADER.size
    while at + FRAME_HEADER.size <= len(data):
        length = FRAME_HEADER.unpack_from(data, at)[2]
        at += FRAME_HEADER.size
        if at + length <= len(data):
            frames.append(data[at : at + length])
        at += length
    return frames


class Testpmd:
    """Runs of testpmd; without hugepages, PCIe devices or telemetry, under a name of their own."""

    __test__ = False

    def __init__(self, library: Path, name: str) -> None:
        self.library = library
        self.name = name

    def command(self, devices: Sequence[str], options: Sequence[str], eal: Sequence[str] = ()) -> list[str]:
        before, driver = plugin(self.library)
        return [
            *before,
            *("dpdk-testpmd", *driver, "--no-huge", "-m", "384", "--no-pci", "--no-telemetry"),
            *("-l", "0,1", "--file-prefix", self.name, *eal),
            *(f"--vdev={device}" for device in devices),
            *("--", "--total-num-mbufs=16384", "--no-flush-rx", *options),
        ]

    def start(self, devices: Sequence[str], *options: str, eal: Sequence[str] = ()) -> Session:
        return Session(self.command(devices, ["-i", *options], eal))

    def run(self, devices: Sequence[str], *options: str, script: Sequence[str] = (), eal: Sequence[str] = ()) -> str:
        """What it says to a script of commands, whatever comes of it."""
        with self.start(devices, *options, eal=eal) as session:
            for line in script:
                session.say(line)
        return session.output()


class Session:
    """A testpmd that takes commands; it quits at the end, within bounds."""

    def __init__(self, command: list[str]) -> None:
        self._log = tempfile.TemporaryFile("w+b")  # noqa: SIM115
        # Without stdbuf its answers come in pages.
        command = ["stdbuf", "-oL", *command]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=self._log, stderr=subprocess.STDOUT, text=True
        )
        self._asked = Counter[int]()  # by port: how often wait_received() has asked

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.say("stop")
            self.say("quit")
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait(stretched(SECONDS))
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()

    def say(self, line: str) -> None:
        """A command; one that has refused to start hears nothing."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def output(self) -> str:
        # The program writes where the file's position is, and shares it with us: to read in place does not move it.
        log = self._log.fileno()
        return os.pread(log, os.fstat(log).st_size, 0).decode(errors="replace")

    def wait(self, is_done: Callable[[], bool]) -> None:
        until = deadline_in(SECONDS / 2)
        ended = False  # looked at before its output, the last of which may come between two looks
        while not is_done():
            assert time.monotonic() < until and not ended, self.output()
            ended = self._process.poll() is not None
            time.sleep(0.1)

    def wait_received(self, least: int, port: int = 0) -> None:
        """Until the port's counter of received frames is so far. An answer to an earlier question does not count."""
        answer = re.compile(rf"NIC statistics for port {port} .*?RX-packets: (\d+) ", re.DOTALL)

        before = self._asked[port]

        def is_done() -> bool:
            counts = [int(n) for n in answer.findall(self.output())]
            if len(counts) > before and counts[-1] >= least:
                return True
            if len(counts) >= self._asked[port]:
                self._asked[port] += 1
                self.say(f"show port stats {port}")
            return False

        self.wait(is_done)


def counters(output: str, port: int) -> dict[str, int]:
    """testpmd's own counts of a port, of the last time it said them."""
    blocks = re.findall(rf"Forward statistics for port {port} .*?\n(.*?)-----", output, re.DOTALL)
    assert blocks, output
    return {name: int(value) for name, value in re.findall(r"([RT]X-\w+): (\d+)", blocks[-1])}


def xstats(output: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"^(\w+): (\d+)$", output, re.MULTILINE)}
