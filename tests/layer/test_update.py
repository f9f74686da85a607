# SPDX-License-Identifier: Apache-2.0
"""meridian-update on an image of a card in a file: what it writes, refuses, and leaves when it is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from card_programs import Programs

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[2]
UPDATE = ROOT / "meta-layer/meta-meridian-bsp/recipes-bsp/meridian-update/files/meridian-update"
MEBI = 1 << 20
# Starts and sizes of the four partitions, in MiB, smaller than those of the SD layout.
PARTS = {1: (4, 4), 2: (8, 12), 3: (20, 12), 4: (32, 4)}


@pytest.fixture
def run(programs: Programs) -> Run:
    return lambda *arguments: programs.run(UPDATE, *arguments)


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}


def root_image(path: Path, size: int, seed: int) -> bytes:
    """What a root file system looks like to meridian-update: bytes, with the mark of ext4 where it is."""
    content = bytearray(random.Random(seed).randbytes(size))
    content[1080:1082] = b"\x53\xef"
    path.write_bytes(content)
    return bytes(content)


def partition(disk: Path, number: int, size: int | None = None) -> bytes:
    start, length = PARTS[number]
    with disk.open("rb") as file:
        file.seek(start * MEBI)
        return file.read(length * MEBI if size is None else size)


def marked(disk: Path) -> list[int]:
    with disk.open("rb") as file:
        table = file.read(512)
    return [number for number in PARTS if table[446 + 16 * (number - 1)] & 0x80]


def trial(disk: Path) -> int | None:
    with disk.open("rb") as file:
        table = file.read(512)
    return table[438] if table[436:438] == b"MT" else None


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(36 * MEBI)
        for number in PARTS:
            file.seek(PARTS[number][0] * MEBI)
            file.write(random.Random(number).randbytes(PARTS[number][1] * MEBI))
        # What runs is a root.
        file.seek(PARTS[2][0] * MEBI + 1080)
        file.write(b"\x53\xef")
    lines = [f"{n} : start={s * 2048}, size={z * 2048}, type={'c' if n == 1 else '83'}" for n, (s, z) in PARTS.items()]
    lines[1] += ", bootable"
    table = "label: dos\n" + "\n".join(lines) + "\n"
    subprocess.run(
        ["sfdisk", "-q", str(path)],
        input=table,
        text=True,
        check=True,
        timeout=20,
        env=environment(),
        capture_output=True,
    )
    return path


def test_the_other_root_is_written_and_marked(disk: Path, tmp_path: Path, run: Run) -> None:
    before = {number: partition(disk, number) for number in PARTS}
    content = root_image(tmp_path / "root", 5 * MEBI + 24 * 512, 7)
    done = run("--disk", disk, tmp_path / "root")
    assert done.returncode == 0, done.stderr
    assert (marked(disk), trial(disk)) == ([3], 3)
    assert partition(disk, 3, len(content)) == content
    assert all(partition(disk, number) == before[number] for number in (1, 2, 4))
    assert "partition 3 is marked, on trial, starts left: 3" in run("--disk", disk, "--status").stdout

    content = root_image(tmp_path / "root", MEBI, 8)
    assert run("--disk", disk, tmp_path / "root").returncode == 0
    assert marked(disk) == [2] and partition(disk, 2, MEBI) == content
    assert run("--disk", disk, "--back").returncode == 0
    assert (marked(disk), trial(disk)) == ([3], None)


def test_a_root_that_is_well_is_on_trial_no_longer(disk: Path, tmp_path: Path, run: Run) -> None:
    root_image(tmp_path / "root", MEBI, 7)
    assert run("--disk", disk, "--tries", "7", tmp_path / "root").returncode == 0
    table = disk.read_bytes()[:512]
    assert (marked(disk), trial(disk)) == ([3], 7)
    done = run("--disk", disk, "--good")
    assert "its trial is over" in done.stdout
    assert (marked(disk), trial(disk)) == ([3], None)
    # Of the sector nothing else was changed.
    after = disk.read_bytes()[:512]
    assert [at for at in range(512) if table[at] != after[at]] == [436, 437, 438]
    done = run("--disk", disk, "--good")
    assert (done.returncode, done.stdout) == (0, "")
    assert (run("--disk", disk, "--bad").returncode, disk.read_bytes()[:512]) == (0, after)
    for tries in ("0", "8", "some"):
        assert run("--disk", disk, "--tries", tries, tmp_path / "root").returncode == 2


def test_there_is_no_way_back_to_what_is_no_whole_root(disk: Path, run: Run) -> None:
    done = run("--disk", disk, "--back")
    assert done.returncode == 1 and "partition 3 has no whole root" in done.stderr
    assert marked(disk) == [2]


def test_what_cannot_be_a_root_changes_nothing(disk: Path, tmp_path: Path, run: Run) -> None:
    before = disk.read_bytes()
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", 12 * MEBI + 512)
    (tmp_path / "text").write_bytes(b"no file system".ljust(512))
    (tmp_path / "odd").write_bytes(bytes(1000))
    reasons = {
        "odd": "not whole sectors",
        "large": "has 12583424 bytes, partition 3 12582912",
        "text": "no ext4",
        "missing": "cannot be read",
    }
    for name, reason in reasons.items():
        done = run("--disk", disk, tmp_path / name)
        assert done.returncode == 1 and reason in done.stderr, done
    assert run("--disk", disk).returncode == 2
    assert disk.read_bytes() == before


def test_a_disk_of_somebody_else_is_refused(disk: Path, tmp_path: Path, run: Run) -> None:
    root_image(tmp_path / "root", MEBI, 1)
    subprocess.run(
        ["sfdisk", "-q", "-A", str(disk), "1"], check=True, timeout=20, env=environment(), capture_output=True
    )
    before = disk.read_bytes()
    done = run("--disk", disk, tmp_path / "root")
    assert done.returncode == 1 and "not a card of ours" in done.stderr
    (tmp_path / "empty").write_bytes(bytes(MEBI))
    done = run("--disk", tmp_path / "empty", tmp_path / "root")
    assert done.returncode == 1 and "no partition table" in done.stderr
    assert disk.read_bytes() == before


def test_killed_at_any_moment_one_whole_root_is_marked(
    disk: Path, tmp_path: Path, run: Run, programs: Programs
) -> None:
    running = partition(disk, 2)
    content = root_image(tmp_path / "root", 10 * MEBI, 3)
    started = time.monotonic()
    assert run("--disk", disk, tmp_path / "root").returncode == 0
    whole = time.monotonic() - started
    assert run("--disk", disk, "--back").returncode == 0

    (tmp_path / "other").write_bytes(content)
    ends = set()
    for turn in range(12):
        with subprocess.Popen([*programs.shell, str(UPDATE), "--disk", str(disk), str(tmp_path / "root")], start_new_session=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=programs.environment()) as process:  # fmt: skip
            time.sleep(whole * turn / 10)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
        assert partition(disk, 2) == running
        ends.add(tuple(marked(disk)))
        assert (marked(disk), trial(disk)) in (([2], None), ([3], 3))
        # The mark of ext4 is there for a whole root only.
        if partition(disk, 3, 1082)[1080:] == b"\x53\xef":
            assert partition(disk, 3, len(content)) in (content, (tmp_path / "other").read_bytes())
        if marked(disk) == [3]:
            assert partition(disk, 3, len(content)) == content
            assert run("--disk", disk, "--back").returncode == 0
        root_image(tmp_path / "other", 10 * MEBI, turn)
        with disk.open("r+b") as file:
            file.seek(PARTS[3][0] * MEBI)
            file.write((tmp_path / "other").read_bytes())
    assert (2,) in ends
