# SPDX-License-Identifier: Apache-2.0
"""Linux in QEMU sees the card on its PCIe bus: identity, BARs, registers, function level reset, VFs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from meridian_machine import Hardware, Image, Machine
from meridian_machine.hardware import with_card
from meridian_twin import CardProcess
from meridian_twin.patience import stretched
from qemu_fixtures import image, qemu

__all__ = ["image", "qemu"]
pytestmark = pytest.mark.qemu
MAGIC = "0x4D52444E"
MEMORY_64 = 0x00100000 | 0x200
FACTS = Path(__file__).with_name("facts")


def facts_of(text: str) -> dict[str, str]:
    found = re.findall(r"^FACT (\S+) ?(.*)$", text, re.MULTILINE)
    return dict(found)


@pytest.fixture(scope="module")
def life(qemu: Path, image: Image, built_card: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory):
    """One boot: the facts, what QEMU traced."""
    folder = tmp_path_factory.mktemp("life")
    trace = folder / "trace"
    hardware = Hardware(extra=["-trace", "meridian_*", "-D", str(trace)])
    with (
        CardProcess(built_card(), "--wire", "0=none") as card,
        Machine(qemu, image, folder, card.socket, hardware, watch=card.check) as machine,
    ):
        machine.wait_ready()
        text = machine.run(FACTS.read_text(), check=True).text
    facts = facts_of(text)
    assert "end" in facts, text
    return facts, trace.read_text()


def test_identity_is_that_of_the_card(life) -> None:
    facts, _ = life
    assert (facts["vendor"], facts["device"], facts["class"]) == ("0x10ee", "0x903f", "0x020000")
    assert (facts["subsystem_vendor"], facts["subsystem_device"]) == ("0x10ee", "0x4d52")


def test_bars_have_the_sizes_that_drivers_expect(life) -> None:
    facts, _ = life
    sizes = {line: int(facts[f"resource{line}"].split()[0]) for line in (0, 2)}
    assert sizes == {0: 256 << 10, 2: 4 << 20}
    for line in (0, 2):
        assert int(facts[f"resource{line}"].split()[1], 16) & MEMORY_64 == MEMORY_64


def test_capabilities_are_those_of_the_ip(life) -> None:
    """MSI-X table and PBA, PCI Express with FLR and extended tags, AER: read from configuration space."""
    config = bytes.fromhex(life[0]["capabilities"])
    found, at = {}, config[0x34]
    while at:
        found[config[at]] = at
        at = config[at + 1]
    msix, express = found[0x11], found[0x10]
    control, table, pba = (int.from_bytes(config[msix + a : msix + b], "little") for a, b in ((2, 4), (4, 8), (8, 12)))
    assert (control & 0x7FF, table, pba) == (9, 0x30000, 0x34000)
    capabilities = int.from_bytes(config[express + 4 : express + 8], "little")
    assert capabilities & (1 << 28), "function level reset"
    assert capabilities & (1 << 5), "extended tags"
    extended, at = set(), 0x100
    while at:
        header = int.from_bytes(config[at : at + 4], "little")
        extended.add(header & 0xFFFF)
        at = header >> 20
    assert {0x0001, 0x000E, 0x0010} <= extended, "AER, ARI, SR-IOV"


def test_registers_of_both_bars_are_the_cards(life) -> None:
    facts, trace = life
    assert facts["identifier"].startswith("0x1FD3")
    assert facts["magic"] == MAGIC
    assert facts["scratch"] == "0x5A5A1234"
    assert "meridian_bar_write function 0 BAR0+0x80/4 = 0x5a5a1234" in trace


def test_function_level_reset_reaches_the_card_and_it_lives_on(life) -> None:
    facts, trace = life
    assert facts["reset"] == "ok"
    assert "meridian_reset_function function 0" in trace
    assert facts["identifier-after"].startswith("0x1FD3")
    assert facts["magic-after"] == MAGIC


def test_bus_mastering_is_told_to_the_card(life) -> None:
    _, trace = life
    enabled = trace.index("meridian_function function 0 may access memory: 1")
    reset = trace.index("meridian_reset_function function 0")
    assert enabled < reset
    assert "meridian_function function 0 may access memory: 1" in trace[reset:], "restored after the reset"


def test_vfs_appear_have_registers_of_their_own_and_go(life) -> None:
    facts, trace = life
    assert facts["sriov_totalvfs"] == "4", "the default shell has 8 functions, VFs begin at 4"
    assert facts["numvfs"] == "2"
    for vf in (0, 1):
        assert facts[f"vf{vf}-device"] == "0x10ee 0xa03f"
        assert facts[f"vf{vf}-version"].startswith("0x1FD3")
        assert f"meridian_bar_read function {4 + vf} BAR0+0x5014/4" in trace
        assert f"meridian_function function {4 + vf} may access memory: 1" in trace
        assert f"meridian_reset_function function {4 + vf}" in trace
    assert facts["vf1-reset"] == "ok"
    assert facts["numvfs-after"] == "0"


def test_without_a_card_qemu_says_so(qemu: Path, tmp_path: Path) -> None:
    socket = tmp_path / "nobody"
    done = subprocess.run(
        [str(qemu), *with_card(socket)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=stretched(30),
        check=False,
    )
    assert done.returncode != 0
    assert f"no card answers at {socket}" in done.stderr


def test_more_pfs_than_the_card_has_are_refused(qemu: Path, built_card: Callable[..., Path]) -> None:
    with CardProcess(built_card(), "--wire", "0=none", "--pfs", "2") as card:
        command = [str(qemu), *with_card(card.socket, device="pfs=3")]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=stretched(30), check=False
        )
    assert done.returncode != 0
    assert "pfs=3: this card has 2 PFs" in done.stderr
