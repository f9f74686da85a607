# SPDX-License-Identifier: Apache-2.0
"""The program that measures eyes, against a card that is a dictionary: what it finds, writes, refuses and puts back."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_lane import FakeLane
from meridian_eye import lane as lanes
from meridian_eye import main as program
from meridian_eye import picture
from meridian_eye.lane import Lane, LaneError
from meridian_eye.scan import Scanner
from meridian_eye.window import NotReachable, window_of
from meridian_selftest import system
from meridian_selftest.card import ArmCard, Function, HostCard
from meridian_selftest.registers import Registers


def box(width: int, height: int) -> Callable[[int, int, int], float]:
    """No error within so many steps and codes from the middle, else every second bit."""
    return lambda across, up, sign: 0.0 if abs(across) <= width and abs(up) <= height else 0.5


class Card(FakeLane):
    def close(self) -> None:
        pass


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    def start(card: FakeLane, *options: str) -> int:
        monkeypatch.setattr(program, "chosen_card", lambda device: ArmCard("a0000000.nic"))
        monkeypatch.setattr(program, "window_of", lambda found: card)
        monkeypatch.setattr(program.os, "geteuid", lambda: 0)
        monkeypatch.setattr(program.changes, "watch_signals", lambda: None)
        monkeypatch.setattr(lanes, "LOCK_SECONDS", 0.05)
        return program.main(["--port", "1", *options])

    return start


def numbers(path: Path) -> tuple[int, int, list[list[tuple[int, ...]]]]:
    """Width, height and pixels of a PNG without filters."""
    data, at, found = path.read_bytes(), 8, {}
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        found[kind] = body
        at += 12 + length
    width, height, depth, colours = struct.unpack(">IIBB", found[b"IHDR"][:10])
    assert (depth, colours) == (8, 2)
    lines = zlib.decompress(found[b"IDAT"])
    assert len(lines) == height * (1 + 3 * width)
    rows = [lines[(1 + 3 * width) * row + 1 : (1 + 3 * width) * (row + 1)] for row in range(height)]
    return width, height, [[tuple(row[3 * x : 3 * x + 3]) for x in range(width)] for row in rows]


def test_an_eye_is_drawn_as_text_and_as_a_picture(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    card, file = Card(box(16, 60)), tmp_path / "eye.png"
    assert run(card, "--columns", "16", "--rows", "6", "--png", str(file)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == " +126 |" + "@" * 33 + "|"
    assert said[6] == "   +0 |" + "@" * 8 + " " * 17 + "@" * 8 + "|"
    assert said[3:10] != said[:7] and said[7] == "  -21 |" + said[6][7:]
    assert said[-2] == "opening at a bit error rate of 1e-06: 0.50 UI, 84 codes of 254"
    width, height, pixels = numbers(file)
    assert (width, height) == (33 * picture.CELL, 13 * picture.CELL)
    assert pixels[height // 2][width // 2] == (255, 255, 255) and pixels[0][0] == picture.colour(0.5)
    assert card.resets == 1, "the receiver is reset once, to enable the scan"
    assert not card.scans, "the card may reset a receiver without a link again"


def test_a_second_scan_leaves_the_receiver_alone(run: Callable[..., int]) -> None:
    card = Card(box(16, 60))
    for _ in range(2):
        assert run(card, "--columns", "2", "--rows", "1") == 0
    assert card.resets == 1


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_rates_are_those_of_the_lane(bits: int) -> None:
    """Whatever the width of its words; both signs of the threshold count alike."""
    card = FakeLane(lambda across, up, sign: 1e-4 if sign else 3e-4, bits)
    lane = Lane(card, Registers(), 1)
    scanner = Scanner(lane, 2)
    scanner.prepare()
    assert scanner.bits == bits
    eye = scanner.scan(1, 1)
    for row in eye.points:
        for point in row:
            assert point.rate == pytest.approx(2e-4, rel=0.01)
    assert eye.width(1e-3) == 1.0 and eye.width(1e-4) == 0 and eye.height(1e-3) == 254


def test_an_opening_is_around_the_middle() -> None:
    """Not as wide as all that is open somewhere in the line."""
    card = FakeLane(lambda across, up, sign: 0.5 if across in (8, -16) else 0.0)
    scanner = Scanner(Lane(card, Registers(), 1), 0)
    scanner.prepare()
    eye = scanner.scan(32, 1)
    assert eye.width(1e-5) == (7 + 15) / 64


def test_a_sampler_that_is_a_bit_off_is_aligned(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    card = Card(box(16, 60))
    card.misaligned = True
    assert run(card, "--columns", "2", "--rows", "1") == 0 and not card.misaligned
    closed = Card(lambda across, up, sign: 0.5)
    assert run(closed) == 1
    assert "port 1: there is no eye: nothing comes in, or the eye is closed" in capsys.readouterr().err


def test_too_few_bits_for_a_rate_are_told(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Card(box(16, 60)), "--columns", "2", "--rows", "1", "--ber", "1e-12", "--prescale", "0") == 0
    assert "too few bits for 1e-12: the opening is measured at 1.2e-07" in capsys.readouterr().out


def test_a_reset_that_is_refused_is_made_by_the_next_scan(run: Callable[..., int]) -> None:
    card = Card(box(16, 60))
    card.in_use = True
    assert run(card, "--columns", "2", "--rows", "1") == 1
    card.in_use = False
    assert run(card, "--columns", "2", "--rows", "1") == 0 and card.resets == 1


def test_a_receiver_that_locks_late_has_an_eye(run: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    card = Card(box(16, 60))
    card.blind = 15
    monkeypatch.setattr(lanes, "LOCK_SECONDS", 5)
    scanner = Scanner(Lane(card, Registers(), 1), 0)
    scanner.prepare()
    scanner.align()


def test_a_large_prescale_has_the_time_that_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds: list[float] = []
    monkeypatch.setattr(system, "until", lambda ends, seconds, **_: bounds.append(seconds) or ends())
    scanner = Scanner(Lane(FakeLane(box(16, 60)), Registers(), 1), 15)
    scanner.prepare()
    scanner.point(0, 0, 0)
    assert max(bounds) > 65535 * 32 * 2**16 / 25.78125e9 > 5


def test_an_eye_with_errors_everywhere_is_told_at_the_rate_that_was_asked_for(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Card(lambda across, up, sign: 1e-3), "--columns", "2", "--rows", "1") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "opening at a bit error rate of 1e-06: 0.00 UI, 0 codes of 254"


@pytest.mark.parametrize("columns", ["7", "12", "16"])
def test_an_opening_does_not_depend_on_the_grid(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], columns: str
) -> None:
    """But for a step of the grid at each end."""
    assert run(Card(box(16, 60)), "--columns", columns, "--rows", "1") == 0
    told = float(capsys.readouterr().out.splitlines()[-1].split(": ")[1].split(" UI")[0])
    assert 0.5 - 2 * 32 / int(columns) / 64 < told <= 0.5


def test_a_counter_that_has_stopped_is_no_rate(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    card = Card(box(1, 1))
    card.errors_to_come = [0xFFFFFFFF]
    assert run(card, "--prbs", "31", "--seconds", "0.1", "--no-eye") == 0
    assert "4294967295 errors or more" in capsys.readouterr().out


@pytest.mark.parametrize("port", ["-1", "2"])
def test_a_port_that_is_not_there_is_refused(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], port: str
) -> None:
    assert run(Card(box(1, 1)), "--port", port) == 1
    assert f"there is no port {port}: the card has ports 0 to 1" in capsys.readouterr().err


def test_a_card_that_does_not_answer_is_told(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    card = Card(box(1, 1))
    card.magic = 0xFFFFFFFF
    assert run(card) == 1
    assert "the card's magic is 0xffffffff" in capsys.readouterr().err


def test_a_pattern_is_counted_and_put_back(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    card = Card(box(1, 1))
    card.errors_to_come = [70000]
    assert run(card, "--loopback", "near-pma", "--prbs", "31", "--seconds", "0.3", "--no-eye", "--inject", "3") == 0
    assert "PRBS31: 70000 errors in " in capsys.readouterr().out
    assert card.loopbacks == [2, 0] and card.patterns == [0x505, 0] and card.forced == 3
    card.errors_to_come = [0]
    assert run(card, "--prbs", "7", "--seconds", "0.1", "--no-eye") == 0
    said = capsys.readouterr().out
    assert "PRBS7: no error in " in said and "below " in said
    assert card.patterns[-2:] == [0x101, 0]


def test_a_pattern_that_is_not_found_is_a_failure_and_is_put_back(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    card = Card(box(1, 1))
    card.locks = False
    assert run(card, "--loopback", "near-pcs", "--prbs", "9", "--no-eye") == 1
    assert "no PRBS9 is found in what comes in" in capsys.readouterr().err
    assert card.loopbacks == [1, 0] and card.patterns == [0x202, 0]


def test_a_port_in_use_is_refused_without_force(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    card = Card(box(16, 60))
    card.in_use = True
    assert run(card, "--loopback", "near-pma", "--no-eye") == 1
    assert "the loopback is refused: the host is enabled at the port" in capsys.readouterr().err
    assert card.loopbacks == []
    assert run(card, "--loopback", "near-pma", "--no-eye", "--force") == 0 and card.loopbacks == [2, 0]
    assert run(card) == 1 and "a reset of the receiver is refused" in capsys.readouterr().err


def test_a_card_without_pins_to_its_transceivers_or_without_the_port_is_an_error(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    card = Card(box(16, 60))
    card.answers = False
    assert run(card) == 1 and "was not answered: the transceiver has no clock or is in reset" in capsys.readouterr().err
    card.capabilities = 0
    assert run(card) == 1 and "has no pins to its transceivers" in capsys.readouterr().err
    with pytest.raises(LaneError, match="there is no port 2: the card has ports 0 to 1"):
        Lane(FakeLane(box(1, 1)), Registers(), 2)


@pytest.mark.parametrize("options", [("--columns", "0"), ("--inject", "1"), ("--ber", "0.7"), ("--rows", "128")])
def test_a_wrong_command_line_is_status_2_and_names_the_option(
    options: tuple[str, ...], run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Card(box(1, 1)), *options) == 2 and options[0] in capsys.readouterr().err


def test_registers_are_mapped_on_the_cards_arm_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path)
    node, device = tmp_path / "tree/bus/nic@a0000000", tmp_path / "sys/bus/platform/devices/a0000000.nic"
    node.mkdir(parents=True)
    device.mkdir(parents=True)
    (device / "of_node").symlink_to(node)
    (node.parent / "#address-cells").write_bytes(bytes([0, 0, 0, 2]))
    (node / "reg").write_bytes(struct.pack(">QQ", 0xA0000000, 0x10000))
    memory = tmp_path / "dev/mem"
    memory.parent.mkdir()
    with memory.open("wb") as file:
        file.truncate(0xA0010000)
        file.seek(0xA0007010)
        file.write(struct.pack("<I", 0x12345678))
    window = window_of(ArmCard("a0000000.nic"))
    assert window.read(0x7010) == 0x12345678
    window.write(0x7014, 0xCAFE)
    window.close()
    with memory.open("rb") as file:
        file.seek(0xA0007014)
        assert file.read(4) == struct.pack("<I", 0xCAFE)


def test_registers_are_mapped_on_a_host_or_the_kernel_refuses(tmp_path: Path) -> None:
    card = HostCard([Function(tmp_path)])
    with pytest.raises(NotReachable, match="boot with iomem=relaxed, or take the driver off by 'echo "):
        window_of(card)
    with (tmp_path / "resource2").open("wb") as file:
        file.truncate(0x400000)
        file.seek(0x107000)
        file.write(struct.pack("<I", 2))
    window = window_of(card)
    assert window.read(0x7000) == 2
    window.close()


def test_frames_come_back_before_the_mac(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    card = Card(box(16, 60))
    card.lost = [0xFFFFFFFE, 3]
    assert run(card, "--loopback", "mac", "--seconds", "0.01") == 0
    assert card.loopbacks == [8, 0] and not card.scans
    assert capsys.readouterr().out.splitlines() == [
        "frames of port 1 come back before the MAC for 0.01 s",
        "5 of them were lost on the way",
    ]
    card.loops = False
    assert run(card, "--loopback", "mac") == 1 and card.loopbacks[-1] == 0
    assert "does not begin: the receiver has no clock, or the MAC takes no frame" in capsys.readouterr().err
    old = Card(box(16, 60))
    old.modes = 7
    assert run(old, "--loopback", "mac") == 1
    assert "this bitstream has no loopback at the MAC's host side" in capsys.readouterr().err
    assert run(card, "--loopback", "mac", "--prbs", "31") == 2
    assert "a test pattern does not go through the loopback mac" in capsys.readouterr().err
    assert run(card, "--loopback", "mac", "--png", "eye.png") == 2
    assert "--png is for the eye scan, and the loopback mac has none" in capsys.readouterr().err
    assert run(card, "--no-eye", "--rows", "7") == 2
    assert "--rows is for the eye scan, and --no-eye leaves it out" in capsys.readouterr().err
