# SPDX-License-Identifier: Apache-2.0
"""docs/user-logic.md as it stands there: the changed example is Verilog that fits, the class of SpinalHDL is a module, and
the program prints its count."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import documents
import pytest
from dma_engines import QDMA_IP
from documents import ROOT
from test_box import BOTH

PAGE = ROOT / "docs" / "user-logic.md"


def test_the_changed_example_is_verilog(tmp_path: Path) -> None:
    box = tmp_path / "my_box.v"
    for words in ("sed 's/packet_counter", "sed -i"):
        for line in documents.block(PAGE, words).commands():
            subprocess.run(line.replace("my_box.v", str(box)), shell=True, cwd=ROOT, check=True, timeout=20)
    text = box.read_text()
    assert text.count("kind = 7;") == 1 and text.count("KINDS = 8") == 1 and "module my_box" in text
    command = ["verilator", "--lint-only", "-Wall", "-Wno-UNUSEDSIGNAL", "-Wno-UNUSEDPARAM", "--top-module", "my_box"]
    done = subprocess.run([*command, box], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_the_program_prints_its_count(programs: Callable[..., Path]) -> None:
    folder = programs(*BOTH, *QDMA_IP)
    program = documents.block(PAGE, "from meridian_card").text.replace("build/card/shell_sim", f"{folder}/shell_sim")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "ARP 3"


@pytest.mark.long
def test_the_class_is_a_module_at_the_host(tmp_path: Path) -> None:
    source = tmp_path / "Quiet.scala"
    source.write_text(documents.block(PAGE, "import meridian.box.HostSpinalBox").text)
    command = [ROOT / "scripts" / "build-card", "--verilog-only", "--host-box", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    shell = Path(done.stdout.splitlines()[-1])
    (module,) = (shell.parent / "box").iterdir()
    assert "\n  Quiet boxAtHost " in shell.read_text()
    assert re.search(
        r"^module Quiet\b(?s:.*?)input +wire +s_axis_rx_tuser_time_valid", module.read_text(), re.MULTILINE
    )
