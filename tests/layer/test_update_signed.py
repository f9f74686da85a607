# SPDX-License-Identifier: Apache-2.0
"""Signatures of updates, by the real ssh-keygen: what meridian-update takes, and what it refuses without a byte written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs, programs
from update_disk import Disk, new_disk, root_image

__all__ = ["image_programs", "programs"]

UPDATE = (
    Path(__file__).resolve().parents[2]
    / "meta-layer/meta-meridian-bsp/recipes-bsp/meridian-update/files/meridian-update"
)


def new_key(path: Path) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)]
    subprocess.run(command, check=True, timeout=20)
    return path


def sign(image: Path, key: Path, purpose: str = "meridian-update") -> None:
    """As --help has it; the signature is beside the image."""
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", purpose, "-f", str(key), str(image)]
    subprocess.run(command, check=True, timeout=20, capture_output=True)


class Signed:
    """A card's disk, an image, and a system that takes the signatures of one key."""

    def __init__(self, folder: Path, programs: Programs) -> None:
        self.folder, self._programs = folder, programs
        self.disk: Disk = new_disk(folder / "disk")
        self.image = folder / "root.ext4"
        self.content = root_image(self.image, 7)
        self.key = new_key(folder / "key")
        self.keys = folder / "usr/share/meridian/update-keys"
        self.keys.parent.mkdir(parents=True)
        self.keys.write_text("# who signs\n" + self.key.with_suffix(".pub").read_text())

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return self._programs.run(UPDATE, "--disk", self.disk.path, "--root", self.folder, *words, self.image)

    def refused(self, sentence: str, *words: str | Path) -> None:
        before = self.disk.path.read_bytes()
        done = self.run(*words)
        assert done.returncode == 1 and sentence in done.stderr, done
        assert self.disk.path.read_bytes() == before


@pytest.fixture
def signed(tmp_path: Path, programs: Programs) -> Signed:
    return Signed(tmp_path, programs)


def test_a_signed_image_is_taken(signed: Signed) -> None:
    sign(signed.image, signed.key)
    done = signed.run()
    assert done.returncode == 0, done
    assert signed.disk.record() == (3, 3)
    assert signed.disk.partition(3, len(signed.content)) == signed.content


def test_a_signature_may_be_elsewhere(signed: Signed, tmp_path: Path) -> None:
    sign(signed.image, signed.key)
    (tmp_path / "root.ext4.sig").rename(tmp_path / "other.sig")
    assert signed.run("--signature", tmp_path / "other.sig").returncode == 0


def test_what_is_not_signed_is_refused(signed: Signed, tmp_path: Path) -> None:
    signed.refused("is not signed: there is no")
    sign(signed.image, new_key(tmp_path / "stranger"))
    signed.refused("is no signature of")
    sign(signed.image.with_name("root.ext4"), signed.key, purpose="file")
    signed.refused("is no signature of")


def test_an_image_that_was_changed_is_refused(signed: Signed) -> None:
    """In a place that no manifest names."""
    sign(signed.image, signed.key)
    content = bytearray(signed.content)
    content[-1] ^= 1
    signed.image.write_bytes(content)
    signed.refused("is no signature of")


def test_a_system_without_keys_says_so(signed: Signed) -> None:
    sign(signed.image, signed.key)
    for text in ("", "# nobody\n", None):
        if text is None:
            signed.keys.unlink()
        else:
            signed.keys.write_text(text)
        signed.refused("this system has no key of those who sign updates")


def test_in_development_no_signature_is_asked_for(signed: Signed, tmp_path: Path) -> None:
    assert signed.run("--unsigned", "--signature", tmp_path / "any").returncode == 2
    assert signed.run("--unsigned").returncode == 0


def test_an_image_that_changes_while_it_is_written_is_not_started(
    signed: Signed, tmp_path: Path, programs: Programs
) -> None:
    """The signature is looked at once more on what the card has."""
    sign(signed.image, signed.key)
    beside = tmp_path / "beside"
    beside.mkdir()
    # The first sync comes behind the first write, long after the signature of the file.
    (beside / "sync").write_text(f"#!/bin/sh\nprintf x | dd bs=1 seek=4000000 1<>{signed.image} 2>/dev/null\n")
    (beside / "sync").chmod(0o755)
    seen = Programs(f"{beside}:{programs.path}", programs.shell)
    done = seen.run(UPDATE, "--disk", signed.disk.path, "--root", tmp_path, signed.image)
    assert done.returncode == 1 and "partition 3 reads back as something else" in done.stderr, done
    assert signed.disk.record() == (2, None)
    assert signed.disk.partition(3, 1082)[1080:] != b"\x53\xef"
