# SPDX-License-Identifier: Apache-2.0
"""Reads captures (pcap and pcapng) and writes pcaps (through dpkt)."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import dpkt

from .records import FormatError, Record, TornError, records

ETHERNET = 1
LINUX_COOKED = {113, 276}  # what tcpdump -i any writes
MIN_FRAME = 60
MAC_HEADER = 14  # destination, source and type: without them nobody knows for whom a frame is
LARGEST = 1 << 30  # file, as it is held in memory
LONGEST = 65535  # of a frame the MAC model sends; captures of a segmenting sender have longer ones


class CaptureError(Exception):
    """A file that cannot be used; the message says why and what to do."""


def counted(count: int, noun: str, verb: str = "") -> str:
    """A number with its noun, and the verb of one thing ("is", "was"): 1 record was, 2 records were."""
    several = {"is": "are", "was": "were"}
    words = [f"{count:,}", noun if count == 1 else f"{noun}s", verb if count == 1 else several.get(verb, verb)]
    return " ".join(filter(None, words))


@dataclass(frozen=True)
class Frame:
    data: bytes
    source: str  # name of the capture it comes from


@dataclass
class Capture:
    frames: list[Frame]
    padded: int = 0  # captured by their sender before its MAC padded them: padded again, as on the wire
    completed: int = 0  # cut by the snap length: played with zeros up to the length that they had
    skipped: int = 0  # empty records, those longer than any frame, and those with more than the frame had
    faulty: int = 0  # received with an error, as a wrong FCS
    headless: int = 0  # cut by the snap length within the Ethernet header
    foreign: int = 0  # of an interface that is not Ethernet
    torn: str = ""  # where and why the file breaks off

    def left_out(self) -> list[str]:
        """What is not among the frames: a sentence for each reason."""
        counts = [
            (self.headless, "was", f"cut by the snap length below the {MAC_HEADER} bytes of an Ethernet header"),
            (self.foreign, "is", "of an interface that is not Ethernet"),
            (self.faulty, "was", "received with an error"),
            (self.skipped, "is", f"empty, longer than {LONGEST} bytes, or shorter than what was kept of it"),
        ]
        told = [f"{counted(count, 'record', verb)} {reason}" for count, verb, reason in counts if count]
        return told + ([self.torn] if self.torn else [])


def read(file: Path) -> Capture:
    """All Ethernet frames of a capture, without FCS. A short frame is padded to the Ethernet minimum, as the wire had it;
    what the snap length cut off a frame is zeros. The rest is counted.

    Raises CaptureError if there is no frame.
    """
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe, or a device that has no end
            raise CaptureError(f"{file}: is not a regular file")
        if status.st_size > LARGEST:
            raise CaptureError(f"{file}: is longer than {LARGEST >> 20} MiB: take a part of it (editcap -r)")
        content = file.read_bytes()
    except OSError as error:
        raise CaptureError(f"{file}: cannot be read: {error.strerror or error!r}") from error
    capture = Capture([])
    link_types: set[int] = set()
    try:
        for record in records(content):
            link_types.add(record.link_type)
            _take(capture, record, file.name)
    except TornError as error:
        capture.torn = str(error)
    except FormatError as error:
        raise CaptureError(f"{file}: {error}") from error
    if not capture.frames:
        raise CaptureError(f"{file}: {_why_none(capture, link_types)}")
    return capture


def _take(capture: Capture, record: Record, source: str) -> None:
    if record.link_type != ETHERNET:
        capture.foreign += 1
    elif not 0 < record.length <= LONGEST or len(record.data) > record.length:
        capture.skipped += 1
    elif record.faulty:
        capture.faulty += 1
    elif len(record.data) < min(record.length, MAC_HEADER):
        capture.headless += 1
    else:
        capture.padded += record.length < MIN_FRAME
        capture.completed += len(record.data) < record.length
        capture.frames.append(Frame(record.data.ljust(max(record.length, MIN_FRAME), b"\0"), source))


def _why_none(capture: Capture, link_types: set[int]) -> str:
    if link_types and ETHERNET not in link_types:
        hint = ": capture on one interface, not on all (tcpdump -i eth0)" if link_types & LINUX_COOKED else ""
        return f"link type {', '.join(map(str, sorted(link_types)))} is not Ethernet (1){hint}"
    return "; ".join(["no frame in it that can be played", *capture.left_out()])


def write(file: Path, frames: Iterable[tuple[int, bytes]]) -> int:
    """Writes (time in ps, frame) as a nanosecond pcap; returns how many."""
    count = 0
    with file.open("wb") as stream:
        writer = dpkt.pcap.Writer(stream, snaplen=65535, linktype=ETHERNET, nano=True)
        for time_ps, frame in frames:
            writer.writepkt(frame, ts=time_ps / 1e12)
            count += 1
    return count
