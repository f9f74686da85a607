# SPDX-License-Identifier: Apache-2.0
"""meridian-update on an image of a card in a file: what it writes, refuses, and leaves when it is killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs, programs
from meridian_twin.patience import end_of
from update_disk import KEY, MAGIC, MEBI, NO_TRIAL, PARTS, RECORD, Disk, new_disk, root_image, system_with_key

__all__ = ["image_programs", "programs"]

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[2]
UPDATE = ROOT / "meta-layer/meta-meridian-bsp/recipes-bsp/meridian-update/files/meridian-update"


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return new_disk(tmp_path / "disk")


@pytest.fixture
def system(tmp_path: Path) -> Path:
    return system_with_key(tmp_path / "system")


@pytest.fixture
def run(programs: Programs, disk: Disk, system: Path) -> Run:
    return lambda *words: programs.run(UPDATE, "--unsigned", "--disk", disk.path, "--root", system, *words)


def test_the_other_root_is_written_and_started_next(disk: Disk, tmp_path: Path, run: Run) -> None:
    before = {number: disk.partition(number) for number in PARTS}
    content = root_image(tmp_path / "root", 7, 5 * MEBI + 24 * 1024)
    done = run(tmp_path / "root")
    assert done.returncode == 0, done.stderr
    assert disk.record() == (3, 3)
    assert disk.partition(3, len(content)) == content
    assert all(disk.partition(number) == before[number] for number in (1, 2, 4))
    assert "partition 3 is started next, on trial, starts left: 3" in run("--status").stdout
    assert run("--good").returncode == 0

    content = root_image(tmp_path / "root", 8)
    assert run(tmp_path / "root").returncode == 0
    assert disk.record() == (2, 3) and disk.partition(2, len(content)) == content


def test_a_root_that_is_well_is_on_trial_no_longer(disk: Disk, tmp_path: Path, run: Run) -> None:
    root_image(tmp_path / "root", 7)
    assert run("--tries", "7", tmp_path / "root").returncode == 0
    table = disk.sector()
    assert disk.record() == (3, 7)
    assert "its trial is over" in run("--good").stdout
    assert disk.record() == (3, None)
    # Of the sector nothing else was changed.
    after = disk.sector()
    assert [at for at in range(512) if table[at] != after[at]] == [439]
    done = run("--good")
    assert (done.returncode, done.stdout) == (0, "")
    assert (run("--bad").returncode, disk.sector()) == (0, after)
    for tries in ("0", "8", "some"):
        assert run("--tries", tries, tmp_path / "root").returncode == 2


@pytest.mark.parametrize("keys", [None, "", f"# {KEY}"])
def test_a_root_that_nobody_can_log_in_to_is_not_well(
    disk: Disk, tmp_path: Path, run: Run, system: Path, keys: str | None
) -> None:
    root_image(tmp_path / "root", 7)
    assert run(tmp_path / "root").returncode == 0
    file = system / "home/root/.ssh/authorized_keys"
    file.unlink()
    if keys is not None:
        file.write_text(keys)
    done = run("--good")
    assert done.returncode == 1 and "there is no key that may log in" in done.stderr
    assert disk.record() == (3, 3)


def test_the_option_back_starts_the_other_root_next(disk: Disk, tmp_path: Path, run: Run) -> None:
    root_image(tmp_path / "root", 7)
    assert run(tmp_path / "root").returncode == 0
    done = run("--back")
    assert "partition 2 is started next" in done.stdout and disk.record() == (2, None)
    # Of a root that has once run nobody knows how it is now.
    assert run("--back").returncode == 0 and disk.record() == (3, 3)


def test_there_is_no_way_back_to_what_is_no_whole_root(disk: Disk, run: Run) -> None:
    done = run("--back")
    assert done.returncode == 1 and "partition 3 has no /boot/meridian.manifest" in done.stderr
    assert disk.record() == (2, None)


def test_an_image_that_this_card_cannot_start_changes_nothing(disk: Disk, tmp_path: Path, run: Run) -> None:
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 12 * MEBI + 512)
    (tmp_path / "odd").write_bytes(bytes(1000))
    (tmp_path / "text").write_bytes(b"no file system".ljust(512))
    root_image(tmp_path / "empty", 1, lacking=("Image", "system.dtb", "meridian.manifest"))
    root_image(tmp_path / "other", 1, machine="meridian-other")
    root_image(tmp_path / "no-kernel", 1, lacking=("Image",))
    root_image(tmp_path / "no-tree", 1, lacking=("system.dtb",))
    root_image(tmp_path / "cut", 1, wrong=("Image",))
    before = disk.path.read_bytes()
    for name, reason in {
        "large": "has 12583424 bytes, partition 3 12582912",
        "odd": "not whole sectors",
        "text": "has no /boot/meridian.manifest",
        "missing": "cannot be read",
        "empty": "has no /boot/meridian.manifest",
        "other": "is for the machine 'meridian-other', this card is a 'meridian-test'",
        "no-kernel": "/boot/Image is not what its manifest says",
        "no-tree": "/boot/system.dtb is not what its manifest says",
        "cut": "/boot/Image is not what its manifest says",
    }.items():
        done = run(tmp_path / name)
        assert done.returncode == 1 and reason in done.stderr, done
    assert run().returncode == 2
    assert disk.path.read_bytes() == before


def test_the_proven_root_is_not_written_in_a_trial(disk: Disk, tmp_path: Path, run: Run) -> None:
    root_image(tmp_path / "root", 7)
    assert run(tmp_path / "root").returncode == 0
    before = disk.path.read_bytes()
    done = run(tmp_path / "root")
    assert done.returncode == 1 and "partition 3 is on trial, starts left: 3" in done.stderr
    assert disk.path.read_bytes() == before


def test_the_root_that_runs_is_not_written_if_its_disk_is_named(
    disk: Disk, tmp_path: Path, programs: Programs, system: Path
) -> None:
    """The system runs from partition 3 and the record names 2, as after a start in which 2 did not load."""
    named = tmp_path / "mmcblk9"
    named.symlink_to(disk.path)
    disk.put(3, root_image(tmp_path / "root", 7))
    folder = tmp_path / "found"
    folder.mkdir()
    (folder / "findmnt").write_text(f'#!/bin/sh\n[ "$*" = "-n -o SOURCE /" ] && echo {named}p3\n')
    (folder / "findmnt").chmod(0o755)
    seen = Programs(f"{folder}:{programs.path}", programs.shell)
    running = disk.partition(3)
    done = seen.run(UPDATE, "--unsigned", "--disk", disk.path, "--root", system, tmp_path / "root")
    assert done.returncode == 0, done
    assert disk.partition(3) == running and disk.record() == (2, 3)


@dataclass
class Running:
    """A system that runs from partition 2 of a card, whose data partition is a folder. disk: the card; stand_ins: before
    all other programs."""

    disk: Path
    stand_ins: Path
    data: Path

    def changes(self, number: int) -> Path:
        """What was changed in /etc under that root."""
        return self.data / f"overlay-etc/root{number}"


@pytest.fixture
def running(tmp_path: Path, disk: Disk) -> Running:
    system = Running(tmp_path / "mmcblk9", tmp_path / "found", tmp_path / "data")
    system.disk.symlink_to(disk.path)
    system.stand_ins.mkdir()
    (system.stand_ins / "findmnt").write_text(
        "#!/bin/sh\n"
        f'case "$*" in "-n -o SOURCE /") echo {system.disk}p2 ;; *"-S {system.disk}p4") echo {system.data} ;;\n'
        f'*"-S {system.disk}p3") [ -e {tmp_path}/mounted ] && echo /mnt ;; *) exit 1 ;; esac\n'
    )
    (system.stand_ins / "findmnt").chmod(0o755)
    for number in (2, 3):
        (system.changes(number) / "upper").mkdir(parents=True)
    return system


def run_there(running: Running, programs: Programs, *words: str | Path) -> subprocess.CompletedProcess[str]:
    seen = Programs(f"{running.stand_ins}:{programs.path}", programs.shell)
    return seen.run(UPDATE, "--unsigned", *words)


def test_a_new_root_has_no_changes_of_the_one_before_it(
    disk: Disk, tmp_path: Path, programs: Programs, running: Running
) -> None:
    """They are gone before it is written: whenever the power goes, no start has the one with the other's changes."""
    root_image(tmp_path / "root", 7)
    # The first sync comes behind the first write.
    (running.stand_ins / "sync").write_text(f"#!/bin/sh\n[ ! -e {running.changes(3)} ] || touch {tmp_path}/together\n")
    (running.stand_ins / "sync").chmod(0o755)
    done = run_there(running, programs, tmp_path / "root")
    assert done.returncode == 0, done
    assert disk.record() == (3, 3)
    assert [folder.name for folder in (running.data / "overlay-etc").iterdir()] == ["root2"]
    assert not (tmp_path / "together").exists()


def test_another_card_that_is_written_leaves_the_changes_of_this_one(
    tmp_path: Path, programs: Programs, running: Running
) -> None:
    """In a reader, say; its record names the same root as runs here."""
    other = tmp_path / "other"
    other.mkdir()
    card = new_disk(other / "card")
    root_image(tmp_path / "root", 7)
    done = run_there(running, programs, "--disk", card.path, tmp_path / "root")
    assert done.returncode == 0, done
    assert card.record() == (3, 3)
    assert (running.changes(3) / "upper").is_dir() and (running.changes(2) / "upper").is_dir()


def test_a_root_that_is_mounted_is_not_written(
    disk: Disk, tmp_path: Path, programs: Programs, running: Running
) -> None:
    """Somebody looks into it; the kernel writes its own view of the file system when it is unmounted."""
    root_image(tmp_path / "root", 7)
    before = disk.path.read_bytes()
    (tmp_path / "mounted").touch()
    done = run_there(running, programs, tmp_path / "root")
    assert done.returncode == 1 and "partition 3 is mounted on /mnt" in done.stderr, done
    assert disk.path.read_bytes() == before and (running.changes(3) / "upper").is_dir()


def test_an_update_that_cannot_be_flushed_to_the_card_fails(
    disk: Disk, tmp_path: Path, programs: Programs, running: Running
) -> None:
    """The card takes no more writes: in an update, and when the record that names the root that does not run is mended."""
    root_image(tmp_path / "root", 7)
    (running.stand_ins / "sync").write_text("#!/bin/sh\nexit 1\n")
    (running.stand_ins / "sync").chmod(0o755)
    for word, marked in ((tmp_path / "root", 2), ("--back", 2), (tmp_path / "root", 3)):
        disk.put(3, root_image(tmp_path / "old", 8))
        with disk.path.open("r+b") as file:
            file.seek(RECORD)
            file.write(MAGIC + bytes([marked, NO_TRIAL]))
        done = run_there(running, programs, word)
        assert done.returncode == 1 and "what was written may not be on the card" in done.stderr, done


def stand_in(folder: Path, name: str, script: str) -> str:
    """A program before all others. Returns what has to be before the path then."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return f"{folder}:"


def has_root(disk: Disk, number: int) -> bool:
    """Whether --back and the boot script see a file system there."""
    return disk.partition(number, 1082)[1080:] == b"\x53\xef"


@pytest.mark.parametrize(
    ("becomes", "sentence"),
    [
        ({"lacking": ("meridian.manifest",)}, "partition 3 has no /boot/meridian.manifest"),
        ({"machine": "meridian-other"}, "partition 3 is for the machine 'meridian-other'"),
        ({"wrong": ("Image",)}, "partition 3: its /boot/Image is not what its manifest says"),
        ({"version": "1.2"}, "partition 3 has version '1.2', which is no whole number"),
    ],
)
def test_an_image_that_is_refused_after_it_was_written_leaves_no_root(
    disk: Disk, tmp_path: Path, programs: Programs, system: Path, becomes: dict[str, object], sentence: str
) -> None:
    """The image becomes another one while it is written. Without a signature, what the card has is the same as the image."""
    root_image(tmp_path / "root", 7)
    root_image(tmp_path / "another", 8, **becomes)  # type: ignore[arg-type]
    # The first sync comes behind the first write, long after the look at the file.
    first = stand_in(tmp_path / "beside", "sync", f"cat {tmp_path}/another >{tmp_path}/root")
    seen = Programs(first + programs.path, programs.shell)
    done = seen.run(UPDATE, "--unsigned", "--disk", disk.path, "--root", system, tmp_path / "root")
    assert done.returncode == 1 and sentence in done.stderr, done
    assert disk.record() == (2, None) and not has_root(disk, 3)
    assert disk.partition(2, 5 * MEBI) == (tmp_path / "running").read_bytes()


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_an_update_that_is_stopped_before_it_is_checked_leaves_no_root(
    disk: Disk, tmp_path: Path, programs: Programs, system: Path, signal_: signal.Signals
) -> None:
    """The program is stopped while it looks at what the card has."""
    root_image(tmp_path / "root", 7)
    (tmp_path / "tmp").mkdir()
    there = f"{disk.path}?offset={PARTS[3][0] * MEBI}"
    real = shutil.which("debugfs", path=programs.path)
    looks = f'case "$*" in *"{there}"*) : >{tmp_path}/looks && exec sleep 60 ;; *) exec {real} "$@" ;; esac'
    first = stand_in(tmp_path / "beside", "debugfs", looks)
    heard = [str(shutil.which("env")), "--default-signal=INT"]
    command = [*heard, *programs.shell, UPDATE, "--unsigned", "--disk", disk.path, "--root", system, tmp_path / "root"]
    environment = {**Programs(first + programs.path, programs.shell).environment(), "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(command, env=environment, start_new_session=True) as writing:
        until = time.monotonic() + 60
        while not (tmp_path / "looks").exists() and time.monotonic() < until:
            time.sleep(0.1)
        assert has_root(disk, 3)
        os.killpg(writing.pid, signal_)
        assert writing.wait(30) != 0
    assert disk.record() == (2, None) and not has_root(disk, 3) and not list((tmp_path / "tmp").iterdir())


def unheard(programs: Programs, disk: Disk, system: Path, *words: str | Path) -> int:
    return programs.unheard(UPDATE, "--unsigned", "--disk", disk.path, "--root", system, *words)


def test_each_command_is_done_once_even_if_its_output_cannot_be_written(
    disk: Disk, tmp_path: Path, image_programs: Programs, system: Path
) -> None:
    root_image(tmp_path / "root", 7)
    for words, record in (
        ((tmp_path / "root",), (3, 3)),
        (("--status",), (3, 3)),
        (("--back",), (2, None)),
        (("--back",), (3, 3)),
        (("--good",), (3, None)),
    ):
        assert unheard(image_programs, disk, system, *words) == 0, words
        assert disk.record() == record, words


def test_an_image_is_refused_even_if_the_reason_cannot_be_written(
    disk: Disk, tmp_path: Path, programs: Programs, system: Path
) -> None:
    """The first file of the manifest has another content, the last one is right."""
    root_image(tmp_path / "wrong", 7, wrong=("Image",))
    root_image(tmp_path / "right", 7)
    before = disk.path.read_bytes()
    assert unheard(programs, disk, system, tmp_path / "wrong") == 1
    assert unheard(programs, disk, system, "--tries", "9", tmp_path / "right") == 2
    assert unheard(programs, disk, system, "--help", tmp_path / "right") == 0
    assert disk.path.read_bytes() == before


def test_a_second_update_at_the_same_time_is_refused(disk: Disk, tmp_path: Path, run: Run) -> None:
    root_image(tmp_path / "root", 7)
    with disk.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = disk.path.read_bytes()
        done = run(tmp_path / "root")
        assert done.returncode == 1 and "another meridian-update is at work" in done.stderr
        assert disk.path.read_bytes() == before
    assert run(tmp_path / "root").returncode == 0


def test_an_update_waits_for_a_program_that_looks_at_the_disk(disk: Disk, tmp_path: Path, run: Run) -> None:
    """udev does, with a shared lock, and a busy system takes it longer than somebody who writes is waited for."""
    root_image(tmp_path / "root", 7)
    with disk.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        timer = threading.Timer(8, lambda: fcntl.flock(held, fcntl.LOCK_UN))
        timer.start()
        done = run(tmp_path / "root")
        end_of(timer)
    assert done.returncode == 0 and disk.record() == (3, 3), done
    assert done.stderr.count("another program looks at") == 1, done


def test_an_update_waits_a_minute_at_most_for_a_program_that_looks_at_the_disk(
    disk: Disk, tmp_path: Path, programs: Programs, system: Path
) -> None:
    """Here a second is as long as a program needs to start."""
    root_image(tmp_path / "root", 7)
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "sleep").write_text("#!/bin/sh\n")
    (beside / "sleep").chmod(0o755)
    seen = Programs(f"{beside}:{programs.path}", programs.shell)
    before = disk.path.read_bytes()
    with disk.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        for words in ((tmp_path / "root",), ("--status",)):
            done = seen.run(UPDATE, "--unsigned", "--disk", disk.path, "--root", system, *words)
            assert done.returncode == 1 and f"has looked at {disk.path} for a minute" in done.stderr, done
    assert disk.path.read_bytes() == before


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_an_update_that_waits_for_the_disk_can_be_stopped(
    disk: Disk, tmp_path: Path, programs: Programs, system: Path, signal_: signal.Signals
) -> None:
    """All programs in front get the signal, as by Ctrl-C. No file and no lock is left behind."""
    root_image(tmp_path / "root", 7)
    (tmp_path / "tmp").mkdir()
    # Tests that run in the background inherit an ignored SIGINT, which a shell cannot change.
    heard = [str(shutil.which("env")), "--default-signal=INT"]
    command = [*heard, *programs.shell, UPDATE, "--unsigned", "--disk", disk.path, "--root", system, tmp_path / "root"]
    environment = {**programs.environment(), "TMPDIR": str(tmp_path / "tmp")}
    with disk.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        with subprocess.Popen(command, env=environment, start_new_session=True) as waiting:
            time.sleep(2)
            assert waiting.poll() is None
            os.killpg(waiting.pid, signal_)
            assert waiting.wait(5) == -signal_
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert disk.record() == (2, None) and not list((tmp_path / "tmp").iterdir())


def test_a_disk_of_somebody_else_is_refused(tmp_path: Path, programs: Programs) -> None:
    root_image(tmp_path / "root", 1)
    disk = new_disk(tmp_path / "disk", types="83 83 83 83")
    before = disk.path.read_bytes()
    done = programs.run(UPDATE, "--disk", disk.path, tmp_path / "root")
    assert done.returncode == 1 and "not a card of ours" in done.stderr
    (tmp_path / "empty").write_bytes(bytes(MEBI))
    done = programs.run(UPDATE, "--disk", tmp_path / "empty", tmp_path / "root")
    assert done.returncode == 1 and "no partition table" in done.stderr
    assert disk.path.read_bytes() == before


def test_killed_at_any_moment_one_whole_root_is_started_next(
    disk: Disk, tmp_path: Path, run: Run, programs: Programs, system: Path
) -> None:
    running = disk.partition(2)
    content = root_image(tmp_path / "root", 3, 10 * MEBI)
    started = time.monotonic()
    assert run(tmp_path / "root").returncode == 0
    whole = time.monotonic() - started
    assert run("--back").returncode == 0

    command = [
        *programs.shell,
        str(UPDATE),
        "--unsigned",
        "--disk",
        str(disk.path),
        "--root",
        str(system),
        str(tmp_path / "root"),
    ]
    ends = set()
    for turn in range(12):
        other = root_image(tmp_path / "other", turn, 10 * MEBI)
        disk.put(3, other)
        with subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=programs.environment()) as process:  # fmt: skip
            time.sleep(whole * turn / 10)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
        assert disk.partition(2) == running
        ends.add(disk.record())
        assert disk.record() in ((2, None), (3, 3))
        # The mark of ext4 is there for a whole root only.
        if disk.partition(3, 1082)[1080:] == b"\x53\xef":
            assert disk.partition(3, len(content)) in (content, other)
        if disk.record() == (3, 3):
            assert disk.partition(3, len(content)) == content
            assert run("--back").returncode == 0
    assert (2, None) in ends
