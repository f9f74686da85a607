# SPDX-License-Identifier: Apache-2.0
"""Versions of updates: meridian-update takes an image that is older than the root that runs only with --older, also if
the image is signed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs, programs
from update_disk import Disk, new_disk, root_image

__all__ = ["image_programs", "programs"]

BSP = Path(__file__).resolve().parents[2] / "meta-layer/meta-meridian-bsp"
UPDATE = BSP / "recipes-bsp/meridian-update/files/meridian-update"
CLASS = BSP / "classes-recipe/meridian-manifest.bbclass"


class Card:
    """A card's disk whose root that runs has a version, and updates with others."""

    def __init__(self, folder: Path, programs: Programs) -> None:
        self.folder, self._programs = folder, programs
        self.disk: Disk = new_disk(folder / "disk")

    def runs(self, version: str | None) -> None:
        self.disk.put(2, root_image(self.folder / "running", 1, version=version))

    def update(
        self, version: str | None, *words: str, seen: Programs | None = None
    ) -> subprocess.CompletedProcess[str]:
        root_image(self.folder / "root", 7, version=version)
        command = ("--unsigned", "--disk", self.disk.path, *words, self.folder / "root")
        return (seen or self._programs).run(UPDATE, *map(str, command))

    def back(self) -> subprocess.CompletedProcess[str]:
        return self._programs.run(UPDATE, "--disk", self.disk.path, "--back")


@pytest.fixture
def card(tmp_path: Path, programs: Programs) -> Card:
    return Card(tmp_path, programs)


@pytest.mark.parametrize(
    ("runs", "update"), [(None, None), (None, "1"), ("7", "7"), ("9", "10"), ("20251231235959", "20260101000000")]
)
def test_what_is_not_older_is_taken(card: Card, runs: str | None, update: str | None) -> None:
    card.runs(runs)
    done = card.update(update)
    assert done.returncode == 0, done
    assert card.disk.record() == (3, 3)


@pytest.mark.parametrize(("runs", "update"), [("7", "6"), ("10", "9"), ("010", "9"), ("1", None), ("1", "0")])
def test_what_is_older_is_taken_only_with_the_option(card: Card, runs: str, update: str | None) -> None:
    card.runs(runs)
    before = card.disk.path.read_bytes()
    done = card.update(update)
    sentence = f"has version {update or 0}, which is older than {runs}, which runs: --older takes it all the same"
    assert done.returncode == 1 and sentence in done.stderr, done
    assert card.disk.path.read_bytes() == before
    done = card.update(update, "--older")
    assert done.returncode == 0 and card.disk.record() == (3, 3), done


@pytest.mark.parametrize("version", ["", "1.2", "-1", "+7", " 7", "v7", "0x7", "7 8", "7\r", "7\nversion=8", "1" * 19])
def test_a_version_that_is_no_number_is_refused(card: Card, version: str) -> None:
    before = card.disk.path.read_bytes()
    for words in ((), ("--older",)):
        done = card.update(version, *words)
        told = version.replace("\nversion=", "\n").replace("\r", "\n")  # as Python reads the text
        assert done.returncode == 1 and f"version '{told}', which is no whole number" in done.stderr, done
        assert card.disk.path.read_bytes() == before


def test_a_root_that_runs_with_a_version_that_is_no_number_is_left_with_the_option(card: Card) -> None:
    card.runs("1.2")
    done = card.update("7")
    assert done.returncode == 1 and "partition 2, which runs, has version '1.2'" in done.stderr, done
    assert card.update("7", "--older").returncode == 0 and card.disk.record() == (3, 3)


def test_an_image_that_becomes_an_older_one_while_it_is_written_is_not_started(
    card: Card, tmp_path: Path, programs: Programs
) -> None:
    """The version is looked at once more in what the card has."""
    card.runs("7")
    root_image(tmp_path / "old", 7, version="6")
    beside = tmp_path / "beside"
    beside.mkdir()
    # The first sync comes behind the first write, long after the look at the file.
    (beside / "sync").write_text(f"#!/bin/sh\ncat {tmp_path}/old >{tmp_path}/root\n")
    (beside / "sync").chmod(0o755)
    done = card.update("8", seen=Programs(f"{beside}:{programs.path}", programs.shell))
    assert done.returncode == 1 and "partition 3 has version 6, which is older than 7, which runs" in done.stderr, done
    assert card.disk.record() == (2, None)
    assert card.disk.partition(3, 1082)[1080:] != b"\x53\xef"


def test_images_are_compared_with_the_root_that_runs_though_it_was_older(card: Card) -> None:
    """Once an older root runs, it is the one that others are compared with; the way back asks nothing."""
    card.runs("7")
    assert card.update("5", "--older").returncode == 0
    assert card.back().returncode == 0 and card.disk.record() == (2, None)
    assert card.back().returncode == 0 and card.disk.record() == (3, 3)


@pytest.mark.parametrize(
    ("version", "sentence"), [("7", ""), ("", "is no whole number"), ("1.2", "is no whole number")]
)
def test_an_image_has_the_version_that_it_is_built_with(tmp_path: Path, version: str, sentence: str) -> None:
    """By the layer's own function, as bitbake runs it."""
    found = re.search(r"^meridian_manifest\(\) \{\n.*?^\}\n", CLASS.read_text(), re.DOTALL | re.MULTILINE)
    assert found
    (tmp_path / "boot").mkdir()
    for name in ("Image", "system.dtb"):
        (tmp_path / "boot" / name).write_text(name)
    done = subprocess.run(
        ["sh", "-ec", 'bbfatal() { echo "$*" && exit 1; }\n' + found[0] + "meridian_manifest"],
        capture_output=True, text=True, timeout=20, check=False,
        env={**os.environ, "IMAGE_ROOTFS": str(tmp_path), "MACHINE": "meridian-test", "MERIDIAN_UPDATE_VERSION": version},
    )  # fmt: skip
    assert sentence in done.stdout and (done.returncode == 0) == (not sentence), done
    if not sentence:
        lines = (tmp_path / "boot/meridian.manifest").read_text().splitlines()
        assert lines[:2] == ["machine=meridian-test", f"version={version}"] and len(lines) == 4
