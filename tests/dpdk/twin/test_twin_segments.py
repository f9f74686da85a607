# SPDX-License-Identifier: Apache-2.0
"""Large frames of TCP and UDP on the card process, which cuts them: what is on the wire, byte by byte."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cuts import Cut, Sent, must_be_segments, some_cuts, whole, write_cuts
from dpdk_fixtures import library, testpmd
from large_frames import MOST, TCP, UDP, Large, large
from pf import address_of
from programs import ROOT, sanitized
from sessions import xstats
from test_twin_attach import MAC, MINE, PEER, from_wire
from test_twin_pf import SERVING
from test_twin_vf import FIRST
from testpmd import Testpmd

__all__ = ["library", "testpmd"]  # fixtures
Sender = Callable[..., tuple[list[bytes], str]]
OUR_DMA = ("--dma", "meridian")
SECONDS = 300
REST_SECONDS = 30
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    twin = " ".join(str(source) for source in sorted((ROOT / "twin" / "dpdk").glob("*.c")))
    return sanitized(tmp_path_factory.mktemp("segments"), "segment_test", f"PLUGINS={twin}") / "segment_test"


@pytest.fixture
def sent(program: Path, tmp_path: Path) -> Iterator[Sender]:
    """sent(card, frames, "mac=...", "alone"): what came on the wire of these frames, and what the program says."""
    running: list[subprocess.Popen[str]] = []

    def run(card: Any, cuts: Sequence[Sent], arguments: str, *words: str) -> tuple[list[bytes], str]:
        write_cuts(tmp_path / "cuts", cuts)
        command = [
            str(program),
            "net_meridian_twin0",
            f"socket={card.socket},{arguments}",
            str(tmp_path / "cuts"),
            *words,
        ]
        with (tmp_path / "said").open("w") as said:
            process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
        running.append(process)
        came: list[bytes] = []
        until = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
            came += [frame.data for frame in card.wires[0].take()]
        text = (tmp_path / "said").read_text()
        assert process.poll() == 0, text
        # The last ones are still in the card.
        count = sum(len(cut.due()) for cut, error in zip(cuts, results(text), strict=True) if not error)
        until = time.monotonic() + REST_SECONDS
        while len(came) < count and time.monotonic() < until:
            time.sleep(0.01)
            came += [frame.data for frame in card.wires[0].take()]
        return came, text

    yield run
    for process in running:
        process.kill()
        process.wait()


def results(text: str) -> list[int]:
    """What rte_eth_tx_prepare() said of each frame."""
    return [int(line) for line in text.splitlines() if line.isdigit()]


def longest() -> list[Cut]:
    """Of 65,535 bytes, in as many segments as there can be, and in as large ones."""
    tcp = Large(PEER + MINE, Random(7).randbytes(MOST - 54), sequence=0xFFFFFFFF, flags=0x99)
    udp = Large(PEER + MINE, Random(8).randbytes(MOST - 62), 6, UDP)
    return [Cut(tcp, 1460, 4), Cut(tcp, 256, 3, vlan=0x6005), Cut(udp, 8191, 2)]


def test_large_frames_leave_as_the_segments_that_the_golden_model_has(run_card: Any, sent: Sender) -> None:
    card = run_card(configuration=OUR_DMA)
    cuts = some_cuts(1, 80, PEER + MINE) + longest()
    came, text = sent(card, cuts, f"mac={MAC}")
    assert results(text) == [0] * len(cuts)
    must_be_segments(came, cuts)
    counted = xstats(text)
    assert counted["tx_segmented"] == len(cuts)
    assert counted["tx_gathered"] == sum(cut.pieces > 1 for cut in cuts)
    assert counted["card_tx_sent"] == len(came)
    zeros = ("tx_copied", "tx_refused", "tx_discarded", "card_tx_error", "card_tx_offload_skipped")
    assert [counted[name] for name in zeros] == [0] * len(zeros)


def test_a_frame_that_cannot_be_cut_is_refused(run_card: Any, sent: Sender) -> None:
    """The next ones go on."""
    card = run_card(configuration=OUR_DMA)
    frame = Large(PEER + MINE, Random(2).randbytes(3000))
    data, good = frame.frame(), Cut(frame, 1000, 2)
    bad = {
        replace(good, size=255): errno.EINVAL,
        replace(good, size=8192): errno.EINVAL,
        replace(good, pieces=5): errno.EINVAL,
        replace(good, data=data[:20] + b"\x20\0" + data[22:]): errno.ENOTSUP,  # a fragment
        replace(good, data=data[:46] + b"\x60" + data[47:]): errno.EINVAL,  # a longer header of TCP
        replace(good, data=data.ljust(MOST + 1, b"\0")): errno.EINVAL,
    }
    cuts = [one for each in bad for one in (each, good)]
    came, text = sent(card, cuts, f"mac={MAC}")
    assert results(text) == [result for error in bad.values() for result in (error, 0)]
    must_be_segments(came, [good] * len(bad))


def test_a_vf_has_segments(run_card: Any, testpmd: Callable[..., Testpmd], sent: Sender) -> None:
    """Its PF sets the switch of its queues, as the VF asks."""
    card = run_card(configuration=OUR_DMA)
    pf = testpmd(card, more=SERVING)
    pf.command("set promisc 0 off")
    pf.start("io")
    cuts = some_cuts(3, 20, PEER + address_of(FIRST))
    came, text = sent(card, cuts, f"function={FIRST}")
    must_be_segments(came, cuts)
    assert xstats(text)["tx_segmented"] == len(cuts)
    pf.quit()


def test_testpmd_cuts_what_it_forwards(run_card: Any, testpmd: Callable[..., Testpmd]) -> None:
    """Its csum mode, with frames that come in up to four buffers."""
    card = run_card(configuration=OUR_DMA)
    pmd = testpmd(card, "--max-pkt-len=9600", "--enable-scatter", more=f"mac={MAC}")
    pmd.command("port stop all")
    for layer in ("ip", "tcp"):
        pmd.command(f"csum set {layer} hw 0")
    said = pmd.command("tso set 1000 0")
    assert "TSO segment size for non-tunneled packets is 1000" in said, said
    pmd.command("port start all")
    pmd.start("csum")
    random = Random(4)
    for _ in range(20):
        frame = replace(large(random, PEER + MINE, random.randint(1001, 7900)), protocol=TCP)
        card.wires[0].send(MINE + PEER + whole(frame)[12:])
        due = Cut(frame, 1000)
        came = from_wire(pmd, card.wires[0], len(due.due()))
        must_be_segments([PEER + MINE + one[12:] for one in came], [due])
    counted = xstats(pmd.command("show port xstats 0"))
    assert counted["tx_segmented"] == 20 and counted["tx_gathered"] > 10 and not counted["tx_copied"]
    pmd.quit()
