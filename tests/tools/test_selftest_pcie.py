# SPDX-License-Identifier: Apache-2.0
"""What the self-test program makes of sysfs: each check passes on a card that is well, and fails with its own sentence."""

from __future__ import annotations

import pytest
from fake_system import PF, FakeSystem, config
from meridian_selftest import pcie
from meridian_selftest.card import host_cards
from meridian_selftest.result import Fail, Skip


def test_the_pfs_of_one_slot_are_one_card(fake: FakeSystem) -> None:
    for number, device in enumerate(("0x903f", "0x913f")):
        fake.card(f"0000:3b:00.{number}", device)
    fake.card("0000:3c:00.0")
    fake.device("0000:3d:00.0", fake.port, vendor="0x10ee", device="0x903f", subsystem_device="0x0007")
    assert [[pf.address for pf in card.pfs] for card in host_cards()] == [[PF, "0000:3b:00.1"], ["0000:3c:00.0"]]


def test_bars_of_the_right_size_pass(fake: FakeSystem) -> None:
    fake.card()
    assert "BAR0 of 256 KiB and BAR2 of 4 MiB" in pcie.bars(fake.context())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("f87fffff", "f843ffff", "BAR2 of .* has 256 KiB, the driver needs 4 MiB"),
        ("f803ffff", "f801ffff", "BAR0 of .* has 128 KiB"),
        ("0x0000000000140204", "0x0000000020140204", "BAR0 of .* has no address. The port above"),
    ],
)
def test_a_bar_that_is_too_small_or_has_no_address_fails(fake: FakeSystem, old: str, new: str, said: str) -> None:
    place = fake.card()
    (place / "resource").write_text((place / "resource").read_text().replace(old, new))
    with pytest.raises(Fail, match=said):
        pcie.bars(fake.context())


def test_a_missing_driver_fails_and_another_one_skips(fake: FakeSystem) -> None:
    place = fake.card()
    with pytest.raises(Fail, match="no driver is bound to 0000:3b:00.0"):
        pcie.driver(fake.context())
    (fake.root / "vfio-pci").mkdir()
    (place / "driver").symlink_to(fake.root / "vfio-pci")
    with pytest.raises(Skip, match=r"another driver has 0000:3b:00.0 \(vfio-pci\)"):
        pcie.driver(fake.context())


def test_a_link_as_fast_as_the_slower_side_passes(fake: FakeSystem) -> None:
    fake.card()
    assert pcie.link(fake.context()) == "x8 at 8 GT/s, as card and slot can"
    (fake.port / "max_link_width").write_text("4\n")
    (fake.port / PF / "current_link_width").write_text("4\n")
    assert pcie.link(fake.context()).startswith("x4 ")


@pytest.mark.parametrize(("file", "value"), [("width", "4"), ("speed", "5.0 GT/s PCIe")])
def test_a_link_that_is_slower_than_possible_fails(fake: FakeSystem, file: str, value: str) -> None:
    (fake.card() / f"current_link_{file}").write_text(f"{value}\n")
    with pytest.raises(Fail, match="card and slot can x8 at 8 GT/s"):
        pcie.link(fake.context())


def test_a_link_with_fewer_lanes_than_the_board_fails(fake: FakeSystem) -> None:
    place = fake.card()
    for which in ("current", "max"):
        (place / f"{which}_link_width").write_text("4\n")
    assert pcie.link(fake.context(board="zcu106"))
    with pytest.raises(Fail, match="the board t1-rfsoc has 8 lanes"):
        pcie.link(fake.context(board="t1-rfsoc"))


@pytest.mark.parametrize(
    ("board", "width", "speed"), [("zcu106", "4", "8.0"), ("zcu106", "16", "16.0"), ("t1-rfsoc", "8", "8.0")]
)
def test_a_link_that_fits_the_board_passes(fake: FakeSystem, board: str, width: str, speed: str) -> None:
    place = fake.card()
    for which in ("current", "max"):
        (place / f"{which}_link_width").write_text(f"{width}\n")
        (place / f"{which}_link_speed").write_text(f"{speed} GT/s PCIe\n")
    said = pcie.link(fake.context(board=board))
    assert said == f"x{width} at {float(speed):g} GT/s, as card, slot and the board {board} can"


@pytest.mark.parametrize(
    ("width", "speed", "said"),
    [
        ("4", "8.0", "the link has x4 at 8 GT/s, the board t1-rfsoc has 8 lanes. Take a slot with as many"),
        ("8", "5.0", "the link has x8 at 5 GT/s, the board t1-rfsoc can 8 GT/s. Take a slot of generation 3"),
    ],
)
def test_a_slot_that_can_do_less_than_the_board_fails(fake: FakeSystem, width: str, speed: str, said: str) -> None:
    place = fake.card()
    for file, value in (("width", width), ("speed", f"{speed} GT/s PCIe")):
        (fake.port / f"max_link_{file}").write_text(f"{value}\n")
        (place / f"current_link_{file}").write_text(f"{value}\n")
    assert pcie.link(fake.context())
    with pytest.raises(Fail, match=said):
        pcie.link(fake.context(board="t1-rfsoc"))


@pytest.mark.parametrize(("file", "value", "said"), [("width", "4", "x4 at 8"), ("speed", "5.0 GT/s PCIe", "x8 at 5")])
def test_a_card_that_can_do_less_than_the_board_fails(fake: FakeSystem, file: str, value: str, said: str) -> None:
    place = fake.card()
    for which in ("current", "max"):
        (place / f"{which}_link_{file}").write_text(f"{value}\n")
    assert pcie.link(fake.context())
    wanted = f"the card says that it can {said} GT/s, the board t1-rfsoc has 8 lanes at 8 GT/s. Load a bitstream"
    with pytest.raises(Fail, match=wanted):
        pcie.link(fake.context(board="t1-rfsoc"))


def test_an_mps_that_the_port_above_does_not_have_fails(fake: FakeSystem) -> None:
    place = fake.card()
    assert pcie.payload(fake.context()) == (
        "MPS 128 bytes as the port above, MRRS 512 bytes; 256 are possible with pci=pcie_bus_safe"
    )
    (place / "config").write_bytes(config(mps=1))
    with pytest.raises(Fail, match="MPS of 0000:3b:00.0 is 256 bytes, that of the port above is 128"):
        pcie.payload(fake.context())
    (fake.port / "config").write_bytes(config(mps=1))
    assert pcie.payload(fake.context()) == "MPS 256 bytes as the port above, MRRS 512 bytes"
    (place / "config").write_bytes(config(mps=1, mrrs=0))
    with pytest.raises(Fail, match="MRRS of 0000:3b:00.0 is 128 bytes, below its MPS of 256"):
        pcie.payload(fake.context())


def test_a_card_whose_configuration_space_is_all_ones_fails(fake: FakeSystem) -> None:
    """All that is read of it is ones, where a list of capabilities has no end."""
    (fake.card() / "config").write_bytes(b"\xff" * 4096)
    with pytest.raises(Fail, match="0000:3b:00.0 does not answer. Remove it"):
        pcie.payload(fake.context())


def test_a_list_of_capabilities_that_goes_round_ends(fake: FakeSystem) -> None:
    data = bytearray(config())
    data[0x40:0x42] = bytes([0x01, 0x40])
    (fake.card() / "config").write_bytes(data)
    with pytest.raises(Skip, match="shows no PCI Express capability"):
        pcie.payload(fake.context())
