# SPDX-License-Identifier: Apache-2.0
"""A box from Vitis HLS on the whole shell. A stub stands for what the compiler makes; the C++ says what it has to do."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT, Start
from packets import checksum
from test_box import BOXES, made, register, to_host, to_wire
from test_isolation import BOB, WIRE

SOURCES = ("hls/hls_box.v", "hls/dscp_marker.v")
STAND_INS = ROOT / "tests" / "shell" / "box" / "hls"


def of_source(folder: Path, data_bits: int, frames: list[bytes]) -> list[bytes]:
    """What the C++ makes of the frames, compiled for this machine."""
    program = folder / "run_marker"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fsanitize=address,undefined"]
    sources = [str(STAND_INS / "run_marker.cpp"), str(BOXES / "hls" / "dscp_marker.cpp")]
    compiler = ["g++", *flags, f"-DDATA_BITS={data_bits}", f"-I{STAND_INS}", *sources, "-o", str(program)]
    subprocess.run(compiler, check=True, timeout=120)
    lines = "".join(f"{frame.hex()}\n" for frame in frames)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, timeout=60, check=True)
    return [bytes.fromhex(line) for line in done.stdout.splitlines()]


def ip_frame(random: Random) -> bytes:
    """An IPv4 packet most of the time, with the protocol UDP half of the time."""
    kind, first = random.choice(((0x0800, 0x45),) * 6 + ((0x0800, 0x46), (0x0800, 0x65), (0x86DD, 0x45)))
    ip = bytearray(random.randbytes(random.choice((46, 60, 300, 1400))))
    ip[0], ip[9] = first, random.choice((17, 17, 6, 1))
    words = (first & 15) * 4
    ip[10:12] = bytes(2)
    ip[10:12] = checksum(bytes(ip[:words]))
    return WIRE + BOB + kind.to_bytes(2, "big") + ip


@pytest.mark.long
@pytest.mark.parametrize("host_bytes", [32, 64])
def test_packets_are_marked_as_the_source_says(start: Start, tmp_path: Path, host_bytes: int) -> None:
    bench, random = made(start, ",".join(str(BOXES / source) for source in SOURCES), host_bytes), Random(5)
    assert bench.shell.read(register(bench, "ID")) == int.from_bytes(b"HLS0", "big")
    sent = [ip_frame(random) for _ in range(300)]
    received = [BOB + WIRE + frame[12:] for frame in sent]
    for one, other in zip(sent, received, strict=True):
        bench.shell.h2c(0, one, metadata=0)
        bench.shell.rx(other)
        bench.step(random.choice((0, 0, 300)))
    bench.drain()
    got = to_wire(bench)
    assert got == of_source(tmp_path, 8 * host_bytes, sent)
    assert to_host(bench) == received
    udp = [frame for frame, was in zip(got, sent, strict=True) if frame != was]
    assert 80 < len(udp) < 220
    for frame in udp:
        assert frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[15] >> 2 == 46
        assert checksum(frame[14 : 14 + (frame[14] & 15) * 4]) == bytes(2)
