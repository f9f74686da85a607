# SPDX-License-Identifier: Apache-2.0
"""scripts/flash-sd on loop devices: what it writes, what it refuses, and that it notices a card that lies."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from meridian_twin.patience import end_of

ROOT = Path(__file__).resolve().parents[2]
FLASH = ROOT / "scripts/flash-sd"
MEBI = 1 << 20
ENVIRONMENT = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists(), reason="loop devices are root's"
)


def do(*command: str | Path, text: str | None = None) -> str:
    return subprocess.run(
        [str(word) for word in command], input=text, capture_output=True, text=True, timeout=60, check=True, env=ENVIRONMENT
    ).stdout.strip()  # fmt: skip


def flash(*words: str | Path, yes: bool = True) -> tuple[int, str]:
    command = [str(FLASH), *map(str, words), *(["--yes"] if yes else [])]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL, env=ENVIRONMENT
    )
    return done.returncode, done.stdout + done.stderr


def table(path: Path, *lines: str) -> None:
    do("sfdisk", "-q", "--wipe", "never", path, text="label: dos\n" + "\n".join(lines) + "\n")


@pytest.fixture
def loop(request: pytest.FixtureRequest) -> Callable[..., Path]:
    """A file as a disk."""

    def attach(file: Path, *options: str) -> Path:
        device = do("losetup", "--find", "--show", "--partscan", *options, file)
        request.addfinalizer(lambda: do("losetup", "--detach", device))
        return Path(device)

    return attach


@pytest.fixture
def backing(tmp_path: Path) -> Path:
    """What a card had before: a partition table, and no byte of the image."""
    path = tmp_path / "backing"
    path.write_bytes(b"\xa5" * 24 * MEBI)
    table(path, "start=2048, size=8192, type=83", "start=10240, type=83")
    return path


@pytest.fixture
def card(backing: Path, loop: Callable[..., Path]) -> Path:
    device = loop(backing)
    # A kernel that reads no partition tables is told of them.
    if not Path(f"{device}p1").exists():
        do("partx", "--add", device)
    return device


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Not a whole number of the pieces that are written, and with a stretch of nothing."""
    path = tmp_path / "image.wic"
    block = random.Random(1).randbytes(65536 - 8)
    data = bytearray(
        b"".join(number.to_bytes(8, "little") + block for number in range(21 * MEBI // 65536)) + block[:512]
    )
    data[9 * MEBI : 17 * MEBI] = bytes(8 * MEBI)
    data[:512] = bytes(512)
    path.write_bytes(data)
    table(path, "start=2048, size=8192, type=c", "start=16384, size=8192, type=83, bootable")
    return path


def bmap(image: Path, ranges: str, size: int | None = None) -> None:
    said = image.stat().st_size if size is None else size
    parts = "".join(f"<Range>{part}</Range>" for part in ranges.split())
    text = f"<bmap><ImageSize> {said} </ImageSize><BlockSize> 4096 </BlockSize><BlockMap>{parts}</BlockMap></bmap>"
    image.with_name("image.wic.bmap").write_text(text)


def pack(image: Path, ending: str) -> Path:
    if not ending:
        return image
    packer = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}[ending]
    packed = Path(f"{image}{ending}")
    with packed.open("wb") as file:
        subprocess.run([packer, "-1cq", str(image)], stdout=file, check=True, timeout=120)
    return packed


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".zst"])
def test_the_card_has_the_image(card: Path, backing: Path, image: Path, ending: str) -> None:
    content = image.read_bytes()
    status, said = flash(card, pack(image, ending))
    assert status == 0, said
    assert "writing 100 %" in said and "reading back 100 %" in said
    assert f"read back: sha256 {hashlib.sha256(content).hexdigest()}" in said
    got = backing.read_bytes()
    assert got[: len(content)] == content
    assert got[len(content) :] == b"\xa5" * (len(got) - len(content))
    sizes = [file.read_text().strip() for file in Path("/sys/class/block", card.name).glob("*p*/size")]
    assert set(sizes) <= {"8192"}, "the kernel has the old table"


def test_a_block_map_says_what_needs_no_writing(card: Path, backing: Path, image: Path) -> None:
    # 9 to 17 MiB is nothing: of the pieces of 4 MiB the one from 12 to 16.
    bmap(image, "0-2303 4352-5376")
    packed = pack(image, ".gz")
    assert flash(card, packed)[0] == 0
    content, got = image.read_bytes(), backing.read_bytes()
    assert got[12 * MEBI : 16 * MEBI] == b"\xa5" * 4 * MEBI
    assert got[: 12 * MEBI] == content[: 12 * MEBI] and got[16 * MEBI : len(content)] == content[16 * MEBI :]


def test_with_check_nothing_is_written(card: Path, backing: Path, image: Path) -> None:
    before = backing.read_bytes()
    status, said = flash(card, image, "--check")
    assert status == 0 and f"{card}: " in said and "25.2 MB" in said, said
    assert backing.read_bytes() == before


@pytest.fixture
def untouched(backing: Path) -> Iterator[None]:
    before = backing.read_bytes()
    yield
    assert backing.read_bytes() == before


@pytest.mark.usefixtures("untouched")
class TestRefused:
    """Each in a sentence, with not a byte written."""

    def test_a_card_is_not_written_if_nobody_can_confirm(self, card: Path, image: Path) -> None:
        status, said = flash(card, image, yes=False)
        assert status == 1 and "no terminal to ask for confirmation: --yes" in said

    @pytest.mark.parametrize(("answer", "status"), [("no", 1), ("", 1), ("yes", 1)])
    def test_a_card_is_not_written_if_the_user_answers_anything_but_its_name(
        self, card: Path, image: Path, answer: str, status: int
    ) -> None:
        ended, said = answered(card, image, answer)
        assert ended == status and "nothing was written" in said

    def test_a_mounted_card_is_refused(self, card: Path, image: Path, tmp_path: Path) -> None:
        place = tmp_path / "mounted here"
        place.mkdir()
        part = Path(f"{card}p1")
        before = part.read_bytes()
        do("mke2fs", "-q", "-t", "ext4", part)
        do("mount", "-o", "ro", part, place)
        try:
            status, said = flash(card, image)
        finally:
            do("umount", place)
            put(part, before)
        assert status == 1 and f"is mounted at {place}: 'umount" in said, said

    def test_a_card_with_swap_in_use_is_refused(self, card: Path, image: Path) -> None:
        part = Path(f"{card}p2")
        before = part.read_bytes()
        do("mkswap", part)
        do("swapon", "--priority", "0", part)
        try:
            status, said = flash(card, image)
        finally:
            do("swapoff", part)
            put(part, before)
        assert status == 1 and f"'swapoff {part}' first" in said

    def test_a_card_that_is_part_of_a_raid_is_refused(self, card: Path, image: Path) -> None:
        # The head of one of Linux's, version 1.2: magic number, version, and where it is.
        head = (0xA92B4EFC).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(120) + bytes(8) + bytes(8)
        head += (8).to_bytes(8, "little")
        part = Path(f"{card}p2")
        before = part.read_bytes()
        put(part, before[:4096] + head + bytes(4096 - len(head)) + before[8192:])
        status, said = flash(card, image)
        put(part, before)
        assert (
            status == 1 and "part of something larger (linux_raid_member" in said and f"'wipefs -a {part}'" in said
        ), said

    @pytest.mark.parametrize("part", ["", "p1"])
    def test_a_card_that_another_program_has_open_is_refused(self, card: Path, image: Path, part: str) -> None:
        """As what a mount in another namespace, a volume group or a RAID does."""
        theirs = os.open(f"{card}{part}", os.O_RDONLY | os.O_EXCL)
        try:
            status, said = flash(card, image)
        finally:
            os.close(theirs)
        assert status == 1 and "is in use" in said

    def test_a_disk_that_the_system_runs_from_is_refused(self, image: Path, backing: Path) -> None:
        """By --check, should it not be refused."""
        assert backing
        source = Path(do("findmnt", "-no", "SOURCE", "/"))
        if not source.is_block_device():
            pytest.skip("this system runs from no disk")
        disk = do("lsblk", "-nso", "PATH", source).split()[-1]
        status, said = flash(disk, image, "--check")
        assert status == 1 and "is a disk that this system runs from (/)" in said

    def test_a_name_that_is_no_whole_disk_is_refused(self, card: Path, image: Path, tmp_path: Path) -> None:
        reasons = {
            "": "which card? SD=/dev/sdX",
            "/dev/nowhere": "there is no /dev/nowhere: is the card in?",
            tmp_path: "is no block device",
            image: "is no block device",
            "/dev/null": "is no block device",
            f"{card}p2": f"is a partition; the image has partitions of its own. Give all of {card}",
        }
        for name, reason in reasons.items():
            status, said = flash(name, image)
            assert status == 1 and reason in said, said

    def test_a_read_only_card_is_refused(self, backing: Path, loop: Callable[..., Path], image: Path) -> None:
        status, said = flash(loop(backing, "--read-only"), image)
        assert status == 1 and "is read-only: slide the lock" in said

    def test_a_card_with_sectors_of_4096_bytes_is_refused(
        self, backing: Path, loop: Callable[..., Path], image: Path
    ) -> None:
        status, said = flash(loop(backing, "--sector-size", "4096"), image)
        assert status == 1 and "has sectors of 4096 bytes" in said

    @pytest.mark.parametrize("ending", ["", ".xz"])
    def test_a_card_that_is_smaller_than_the_image_is_refused(
        self, backing: Path, loop: Callable[..., Path], image: Path, ending: str
    ) -> None:
        limit = image.stat().st_size - 512
        status, said = flash(loop(backing, "--sizelimit", str(limit)), pack(image, ending))
        assert status == 1 and "take a larger card" in said
        assert flash(loop(backing, "--sizelimit", str(limit + 512)), image, "--check")[0] == 0

    def test_a_reader_without_a_card_is_refused(
        self, loop: Callable[..., Path], image: Path, tmp_path: Path, backing: Path
    ) -> None:
        (tmp_path / "empty").touch()
        status, said = flash(loop(tmp_path / "empty"), image)
        assert status == 1 and "has no card in it" in said

    def test_a_file_that_is_no_whole_image_is_refused(self, card: Path, image: Path, tmp_path: Path) -> None:
        content = image.read_bytes()
        whole = pack(image, ".gz").read_bytes()
        (tmp_path / "cut.wic.gz").write_bytes(whole[:-1000])
        (tmp_path / "other.wic.gz").write_bytes(whole[:50000] + b"!!!" + whole[50003:])
        (tmp_path / "text.wic.xz").write_text("no image")
        (tmp_path / "root.ext4").write_bytes(content[512:])
        (tmp_path / "odd.wic").write_bytes(content[:-1])
        (tmp_path / "empty.wic").touch()
        reasons = {
            "cut.wic.gz": "is not whole, get it again",
            "other.wic.gz": "is not whole, get it again",
            "text.wic.xz": "is not whole, get it again",
            "root.ext4": "has no partition table",
            "odd.wic": "no image of an SD card",
            "empty.wic": "no image of an SD card",
            "missing.wic": "there is no",
        }
        for name, reason in reasons.items():
            status, said = flash(card, tmp_path / name)
            assert status == 1 and reason in said, said

    def test_a_block_map_that_does_not_fit_the_image_is_refused(self, card: Path, image: Path) -> None:
        for ranges, size, reason in (
            ("0-2303", None, "leaves out data of it"),
            ("0-5376", 4096, "is of an image of 4096 bytes"),
            ("0-x", None, "cannot be read"),
            ("", None, "leaves out data of it"),
        ):
            bmap(image, ranges, size)
            status, said = flash(card, image)
            assert status == 1 and reason in said, said
        image.with_name("image.wic.bmap").write_text("<bmap>")
        status, said = flash(card, image)
        assert status == 1 and "cannot be read" in said


def put(part: Path, content: bytes) -> None:
    """Onto a partition, that is: into no file of its name."""
    with part.open("r+b") as file:
        file.write(content)


def answered(card: Path, image: Path, answer: str) -> tuple[int, str]:
    """On a terminal, as a person."""
    ours, theirs = os.openpty()
    with subprocess.Popen([str(FLASH), str(card), str(image)], stdin=theirs, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT) as process:  # fmt: skip
        os.write(ours, f"{answer}\n".encode())
        said, _ = process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    return process.returncode, said


def test_a_card_whose_name_the_user_confirms_is_written(card: Path, backing: Path, image: Path) -> None:
    status, said = answered(card, image, card.name)
    assert status == 0, said
    assert f"All of that will be lost to {image} (22.0 MB)" in said and f"{card}: " in said
    assert backing.read_bytes().startswith(image.read_bytes())


def test_a_card_that_reads_back_other_data_has_failed(card: Path, backing: Path, image: Path) -> None:
    """Behind the loop device a sector is something else again, soon after it was written."""
    stop = threading.Event()
    place = 18 * MEBI + 1536

    def forget() -> None:
        file = os.open(backing, os.O_WRONLY)
        while not stop.wait(0.0005):
            os.pwrite(file, bytes(512), place)
        os.close(file)

    forgetting = threading.Thread(target=forget)
    forgetting.start()
    try:
        status, said = flash(card, image)
    finally:
        stop.set()
        end_of(forgetting)
    assert status == 1 and "read back 16 MiB from the card's start differ from those written" in said, said
    assert backing.read_bytes()[:512] == bytes(512), "a card that is not whole has a partition table"


def test_a_card_that_is_smaller_than_it_says_has_failed(loop: Callable[..., Path], image: Path, tmp_path: Path) -> None:
    """The file behind the loop device has no room where it is written to."""
    place = tmp_path / "small"
    place.mkdir()
    do("mount", "-t", "tmpfs", "-o", f"size={8 * MEBI}", "tmpfs", place)
    try:
        with (place / "backing").open("wb") as file:
            file.truncate(24 * MEBI)
        table(place / "backing", "start=2048, type=83")
        device = do("losetup", "--find", "--show", place / "backing")
        try:
            status, said = flash(device, image)
        finally:
            do("losetup", "--detach", device)
        assert status == 1 and "writing failed 12 MiB from the card's start" in said and "No space" in said, said
        assert (place / "backing").read_bytes()[:512] == bytes(512)
    finally:
        do("umount", place)


def test_a_wrong_command_line_has_status_2() -> None:
    for words in ((), ("/dev/null", "one", "two"), ("--wrong", "/dev/null")):
        assert flash(*words)[0] == 2
