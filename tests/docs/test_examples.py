# SPDX-License-Identifier: Apache-2.0
"""Examples of the card's documents, run as they stand there; only sockets and programs are elsewhere.

The documents are twin/card/README.md, twin/card/shell_sim.md and twin/client/README.md.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import documents
from documents import ROOT
from meridian_twin import CardProcess

DMA = ROOT / "docs" / "dma.md"
CARD, SHELL_SIM, CLIENT = (ROOT / "twin" / name for name in ("card/README.md", "card/shell_sim.md", "client/README.md"))


def options(command: str, folder: Path) -> list[str]:
    """Of a command that starts meridian_card, but for its socket. Paths in /tmp are in a folder of the test."""
    words = command.replace("/tmp/", f"{folder}/").removesuffix("&").split()
    assert words[:2] == ["meridian_card", "--socket"], command
    return words[3:]


def test_the_card_is_built_and_started(built_card: Callable[..., Path], tmp_path: Path) -> None:
    program = built_card()
    build, start, tell = documents.block(CARD, "--control").commands()
    done = subprocess.run([ROOT / build], capture_output=True, text=True, timeout=1200, check=True)
    assert (Path(done.stdout.splitlines()[-1]) / "meridian_card").exists()
    with CardProcess(program, *options(start, tmp_path)):
        assert (tmp_path / "control").exists()
    told = subprocess.run([program, *tell.split()[1:]], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "--control" in told and "drift_ppb" in told


def test_a_card_with_our_dma_engine_is_built_and_tested() -> None:
    build, test = documents.block(DMA, "--dma meridian").commands()
    program, *options = build.split("#")[0].split()
    done = subprocess.run([ROOT / program, *options], capture_output=True, text=True, timeout=1200, check=True)
    assert (Path(done.stdout.splitlines()[-1]) / "meridian_card").exists()
    program, *options = test.split()
    subprocess.run([ROOT / program, "--collect-only", *options], cwd=ROOT, timeout=60, check=True)


def test_the_card_takes_each_wire_of_its_page(built_card: Callable[..., Path], tmp_path: Path) -> None:
    """An interface of Linux is made for the one that needs it, in a namespace of the card."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    capture = header + struct.pack("<IIII", 0, 0, 60, 60) + bytes(60)
    for spec in documents.block(CARD, "replay:file").commands():
        through: list[str] = []
        if spec.startswith("packet:"):
            make = 'ip link add veth0 type veth peer name veth1 && exec "$@"'
            through = ["unshare", "--user", "--map-root-user", "--net", "sh", "-ec", make, "sh"]
        spec = re.sub(r"(?<=file=|ture=)", f"{tmp_path}/", spec)
        (tmp_path / "x.pcap").write_bytes(capture)
        CardProcess(built_card(), "--wire", f"0={spec}", through=through).close()


def test_the_client_is_told_of_the_card(built_card: Callable[..., Path], tmp_path: Path) -> None:
    path, start, info = documents.block(CLIENT, "export PYTHONPATH").commands()
    name, value = path.removeprefix("export ").split("=")
    with CardProcess(built_card(), *options(start, tmp_path)) as card:
        command = info.replace("/tmp/card", str(card.socket)).split()
        environment = {**os.environ, name: str(ROOT / value)}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    assert "0x4d52444e" in done.stdout


def run(text: str) -> str:
    """What an example in Python prints."""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_of_the_client_receives_the_frame_that_it_shows(
    built_card: Callable[..., Path], tmp_path: Path
) -> None:
    text = documents.block(CLIENT, "import CardProcess").text
    text = text.replace("build/card/meridian_card", str(built_card())).replace("/tmp/", f"{tmp_path}/")
    assert r"\x02\xaa\xbb\xcc\xdd\x01" in run(text)


def test_the_example_of_the_shell_in_python_prints_its_events(built: Callable[..., Path]) -> None:
    text = documents.block(SHELL_SIM, "with Simulator").text.replace("build/card/shell_sim", str(built()))
    assert "rx" in run(text)


def test_options_and_wires_of_the_card_exist(built_card: Callable[..., Path]) -> None:
    """On all pages: options of meridian_card, and the names in descriptions of wires."""
    told = subprocess.run([built_card(), "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    names = set(re.findall(r"[\w-]+", told))
    seen = 0
    for page in documents.pages():
        commands = [command for block in documents.blocks(page) for command in block.commands()]
        for command in [*commands, *documents.inline(page)]:
            found = re.findall(r" (--[a-z-]+)", command) if re.match(r"(\S*/)?meridian_card ", command) else []
            for kind, spec in re.findall(r"\b\d=([a-z]+):(\S+)", command):
                found += [kind, *re.findall(r"(?:^|,|\+\w+:)(\w+)=", spec)]
            seen += len(found)
            assert not set(found) - names, f"{page.name}: {command}: {set(found) - names}"
    assert seen > 10
