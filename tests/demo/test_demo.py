# SPDX-License-Identifier: Apache-2.0
"""The capture demo: what it says of bad files, and that it checks what it claims to check."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import dpkt
import pytest
from meridian_demo import capture
from meridian_demo.check import check
from meridian_demo.plan import choose
from meridian_demo.run import Machines, send, set_up
from meridian_golden.shell import GoldenShell
from meridian_twin.process import CardProcess

ROOT = Path(__file__).resolve().parents[2]


def make_pcap(file: Path, frames: list[bytes], linktype: int = 1) -> Path:
    with file.open("wb") as stream:
        writer = dpkt.pcap.Writer(stream, linktype=linktype)
        for number, frame in enumerate(frames):
            writer.writepkt(frame, ts=number)
    return file


def some_frames() -> list[bytes]:
    hosts = [bytes([2, 0, 0, 0, 0, n]) for n in range(8)]
    groups = [b"\xff" * 6, bytes.fromhex("01005e000181"), bytes.fromhex("01005e7f0001")]
    frames = []
    for number in range(200):
        destination = groups[number % 3] if number % 5 == 0 else hosts[number % 7]
        ip = bytes([0x45, 0, 0, 40, 0, number, 0, 0, 64, 17, 0, 0, 10, 0, 0, number % 9, 10, 0, 1, number % 5])
        frames.append(destination + hosts[7] + b"\x08\x00" + ip + bytes([number] * (20 + 7 * number % 900)))
    return frames


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "too few"),
        (b"GIF89a" + bytes(100), "not a pcap or pcapng"),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "no byte-order magic"),
    ],
)
def test_a_file_that_is_no_capture_is_refused_with_the_reason(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "bad.pcap"
    file.write_bytes(content)
    with pytest.raises(capture.CaptureError, match=words):
        capture.read(file)


def test_a_file_that_is_missing_empty_or_not_of_ethernet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(capture.CaptureError, match="cannot be read"):
        capture.read(tmp_path / "none.pcap")
    with pytest.raises(capture.CaptureError, match="not Ethernet"):
        capture.read(make_pcap(tmp_path / "raw.pcap", [bytes(60)], linktype=101))
    with pytest.raises(capture.CaptureError, match="no frame"):
        capture.read(make_pcap(tmp_path / "empty.pcap", []))


def test_command_line_refuses_a_broken_file(tmp_path: Path) -> None:
    file = tmp_path / "broken.pcap"
    file.write_bytes(b"nonsense that is no capture")
    done = subprocess.run(
        ["python3", "-m", "meridian_demo", "--pcap", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == 2
    assert "not a pcap or pcapng file" in done.stderr


def test_a_pcap_that_is_written_is_read_again(tmp_path: Path) -> None:
    frames = some_frames()
    capture.write(tmp_path / "out.pcap", [(1000 * n, frame) for n, frame in enumerate(frames)])
    again = [frame.data for frame in capture.read(tmp_path / "out.pcap").frames]
    assert again == [frame.ljust(60, b"\0") for frame in frames]


def test_the_shell_agrees_with_the_model_and_planted_damage_is_found(
    built_card: Callable[..., Path], tmp_path: Path
) -> None:
    """All as the golden model says; then each kind of damage done to the result is found."""
    frames = [capture.Frame(frame.ljust(60, b"\0"), "made") for frame in some_frames()]
    plan = choose(frames)
    wire = tmp_path / "wire"
    with CardProcess(built_card(), "--wire", f"0=socket:path={wire}") as process:
        machines = Machines(process.socket, wire)
        geometry = machines.host.card.geometry
        golden = GoldenShell(geometry.ports, geometry.functions, geometry.queues)
        result = send(machines, golden, plan, set_up(machines, golden, plan), frames, lambda _: None)
        machines.close()
    assert check(result, plan) == []
    assert result.ps and result.wire and sum(map(len, result.queues.values())) > 100

    queue = next(q for q, got in result.queues.items() if len({f for _, f in got}) > 3)
    whole = list(result.queues[queue])
    result.queues[queue] = whole[1:]
    assert any("missing" in error for error in check(result, plan))
    result.queues[queue] = [*whole, whole[0]]
    assert any("too much" in error for error in check(result, plan))
    result.queues[queue] = whole[::-1]
    assert any("out of order" in error for error in check(result, plan))
    result.queues[queue] = whole
    good = result.counters["port"]
    result = replace(result, counters=result.counters | {"port": good | {"rx_bad_fcs": good["rx_bad_fcs"] + 1}})
    assert any("rx_bad_fcs" in error for error in check(result, plan))
