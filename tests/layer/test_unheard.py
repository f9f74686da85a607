# SPDX-License-Identifier: Apache-2.0
"""What the card's scripts do when nobody hears them, as when a log is full: the same as when somebody does."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs, programs

__all__ = ["image_programs", "programs"]

LAYERS = Path(__file__).resolve().parents[2] / "meta-layer"
SCRIPTS = LAYERS.parent / "scripts"
HEALTH = LAYERS / "meta-meridian/recipes-connectivity/meridian-ptp/files/meridian-ptp-health"
FPGA = LAYERS / "meta-meridian-bsp/recipes-bsp/meridian-fpga/files/meridian-fpga"
FOLLOWS = "portState {}\nmaster_offset 3\ngmPresent true\ngmIdentity 00b0ae.fffe.010203\n"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A root with a bitstream that fits, of a register map that is a little older than the driver's."""
    files = {
        "lib/firmware/meridian/shell.bit.bin": "bits",
        "lib/firmware/meridian/shell.manifest": "bitstream=shell.bit.bin\nmap=1.1\n"
        f"sha256={hashlib.sha256(b'bits').hexdigest()}\n",
        "usr/share/meridian/register-map": "MAJOR=1\nMINOR=2\n",
        "sys/class/fpga_manager/fpga0/flags": "",
        "sys/class/fpga_manager/fpga0/firmware": "",
        "sys/class/fpga_manager/fpga0/state": "unknown\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("word", "status"), [("--help", 0), ("--wrong", 2), ("--root", 2)])
def test_no_logic_is_loaded_by_a_word_that_does_not_ask_for_it(
    programs: Programs, card: Path, word: str, status: int
) -> None:
    assert programs.unheard(FPGA, "--root", card, word) == status
    assert (card / "sys/class/fpga_manager/fpga0/firmware").read_text() == ""


def test_a_warning_that_nobody_hears_is_no_failure(programs: Programs, card: Path) -> None:
    assert programs.unheard(FPGA, "--root", card, "--check") == 0


@pytest.mark.parametrize(
    ("words", "state", "status"),
    [
        (("--help",), "SLAVE", 0),
        (("--wrong",), "SLAVE", 2),
        (("--limit", "close"), "SLAVE", 2),
        (("more",), "SLAVE", 2),
        ((), "SLAVE", 0),
        ((), "FAULTY", 1),
    ],
)
def test_the_status_of_ptps_health_is_told(programs: Programs, words: tuple[str, ...], state: str, status: int) -> None:
    assert programs.unheard(HEALTH, "--answers", "-", *words, text=FOLLOWS.format(state)) == status


def test_no_script_goes_on_because_nobody_has_heard_that_it_ends() -> None:
    """`usage && exit` goes on if usage cannot be written, also under `set -e`, which looks at the last command alone."""
    scripts = [file for file in LAYERS.rglob("files/meridian-*") if file.read_bytes()[:2] == b"#!"]
    scripts += [file for file in SCRIPTS.rglob("*") if file.is_file() and file.read_bytes()[:2] == b"#!"]
    found = [
        f"{script.name}:{number}: {line}"
        for script in scripts
        for number, line in enumerate(script.read_text().splitlines(), 1)
        if re.search(r"\b(usage|say|echo|printf|cat|tail)\b.*&& (exit|return)\b", line)
    ]
    assert len(scripts) >= 30 and found == []


@pytest.mark.parametrize(
    "script",
    [
        *("build-card", "build-image", "test-driver"),
        *("build/build-docs", "build/build-module", "build/build-sd", "build/fetch-source"),
    ],
)
@pytest.mark.parametrize("words", [("--help",), ("--wrong",)])
def test_a_script_that_builds_ends_whoever_hears_it(script: str, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([SCRIPTS / script, *words], stdout=full, stderr=full, timeout=20, check=False)
    assert done.returncode in (1, 2)
