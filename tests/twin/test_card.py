# SPDX-License-Identifier: Apache-2.0
"""The program, its clients' manners, and the command line."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frames import MINE, frame
from meridian_twin import (
    CardError,
    CardProcess,
    Host,
    Link,
    LinkError,
    MismatchError,
    Role,
)
from meridian_twin.patience import deadline_in, stretched
from meridian_twin.registers import Registers
from meridian_twin.registers import header as find_header
from test_frames import connect

__all__ = ["connect"]


def changed(tmp_path: Path, name: str, value: str) -> Registers:
    """The register map of another version."""
    lines = find_header().read_text().splitlines()
    path = tmp_path / "regs.h"
    path.write_text(
        "\n".join(f"#define MERIDIAN_{name} {value}" if f"#define MERIDIAN_{name} " in line else line for line in lines)
    )
    return Registers(path)


def test_another_map_is_refused_in_a_sentence(run_card: Any, tmp_path: Path) -> None:
    card = run_card()
    with Link(card.socket) as link:
        with pytest.raises(MismatchError, match=r"register map is version 1\.\d+, this driver knows 2\.\d+"):
            Host(link, registers=changed(tmp_path, "MAP_MAJOR", "2"))
        with pytest.raises(MismatchError, match="this is no Meridian card"):
            Host(link, registers=changed(tmp_path, "MAGIC", "0x12345678u"))


def test_second_host_is_refused(run_card: Any, connect: Any) -> None:
    card = run_card()
    host = connect(card)
    with pytest.raises(LinkError, match="the host is played by meridian_twin host already"):
        Link(card.socket)
    with Link(card.socket, Role.AXI, "arm"):
        assert host.card.read(0x100000) == host.card.regs["MAGIC"]


def test_a_client_that_sends_nonsense_costs_no_other_its_card(run_card: Any, connect: Any) -> None:
    card = run_card()
    host = connect(card)
    ps = Link(card.socket, Role.AXI)
    ps._socket.sendall(b"\xff" * 100)
    with pytest.raises(LinkError, match="a message of 4294967295 bytes"):
        ps.wait(lambda: False, "nothing")
    host.bring_up()
    card.wires[0].send(frame(100, 1))
    assert host.receive(1) == [frame(100, 1)]


def test_accesses_outside_of_the_registers_read_ones_or_are_refused(run_card: Any, connect: Any) -> None:
    host = connect(run_card())
    link = host.link
    assert link.read(0, 5, 0) == 0xFFFFFFFF
    assert link.read(0, 2, link.welcome.bar2_bytes) == 0xFFFFFFFF
    assert link.read(0, 0, link.welcome.bar0_bytes) == 0xFFFFFFFF
    host.card.write(host.card.regs.address("IDENT", "SCRATCH"), 0xA5A5_1234)
    assert host.card.read(host.card.regs.address("IDENT", "SCRATCH")) == 0xA5A5_1234
    with pytest.raises(LinkError, match="aligned"):
        link.read(0, 0, 2)
    with pytest.raises(LinkError, match="aligned"):
        link.read(300, 0, 0)
    with pytest.raises(LinkError, match="LOCKSTEP"):
        link.advance(1)


def test_time_stands_still_in_lockstep(run_card: Any) -> None:
    card = run_card()
    with Link(card.socket, lockstep=True) as link:
        at = link.advance(0)
        assert link.advance(0) - at < 1_000_000
        then = link.advance(1_000_000_000)
        assert 1_000_000_000 <= then - at < 1_002_000_000


def test_the_program_refuses_a_wrong_option_with_the_reason(built_card: Any) -> None:
    with pytest.raises(CardError, match="no option is named --nonsense") as error:
        CardProcess(built_card(), "--nonsense")
    assert error.value.status == 2
    with pytest.raises(CardError, match="this shell was generated for a host clock of 250 MHz, not 125"):
        CardProcess(built_card(), "--host-mhz", "125")


def run(card: Any, *line: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "meridian_twin", "--socket", str(card.socket), *line]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_clients_command_line_sends_receives_and_dumps(run_card: Any) -> None:
    card = run_card()
    done = run(card, "info")
    assert done.returncode == 0, done.stderr
    assert "0x4d52444e" in done.stdout
    # Who goes takes along what was fetched of its queues and has not left yet.
    for _ in range(10):
        assert run(card, "send", frame(100, 1).hex(), "--repeat", "3").stdout == "3 frames sent\n"
        dumped = run(card, "dump", "counters")
        assert dumped.returncode == 0, dumped.stderr
        if "port_counters.tx_frames" in dumped.stdout:
            break
    assert "port_counters.tx_frames" in dumped.stdout
    assert "completion" in run(card, "dump", "contexts").stdout
    failed = run(card, "receive", "--seconds", "0.3")
    assert failed.returncode == 1
    assert failed.stderr == "meridian_twin: waited in vain for 1 frames for function 0\n"
    listening = subprocess.Popen(
        [sys.executable, "-m", "meridian_twin", "--socket", str(card.socket), "receive"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        # Frames from before it listens are nobody's; the last ones are its own.
        deadline, numbers = deadline_in(60), itertools.cycle(range(200))
        while listening.poll() is None and time.monotonic() < deadline:
            card.wires[0].send(frame(60, next(numbers), MINE))
            with contextlib.suppress(subprocess.TimeoutExpired):
                listening.wait(timeout=0.1)
        assert listening.communicate(timeout=stretched(10))[0].startswith(MINE.hex())
    finally:
        listening.kill()
        listening.wait(timeout=stretched(10))


def test_the_usual_card_is_compiled_for_what_runs_often(programs: Callable[..., Path], own_dma: bool) -> None:
    if not own_dma:
        pytest.skip("cards with the QDMA IP's model are compiled once")
    assert "-fprofile-instr-use=" in (programs() / "build.ninja").read_text()
