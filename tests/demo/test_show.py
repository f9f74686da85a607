# SPDX-License-Identifier: Apache-2.0
"""The whole demo's parts that need no machine: what it makes of numbers, and that its page shows them."""

from __future__ import annotations

import io
import socket
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from meridian_show import report
from meridian_show.burst import PERIOD_PS, SIZES, SYNC_PS, Bursts, frame, number_of, times
from meridian_show.host import drops, pf_and_vfs
from meridian_show.latency import covered, of_sizes
from meridian_show.record import IDLE, LOADED, Counters, Offset, Phase, Record, peak, rms, verdict
from meridian_show.view import View, rate, sparks
from meridian_twin import Host
from meridian_twin.control import Control
from meridian_twin.pcapng import Passed, PcapngError, packets
from rich.console import Console

MAC = bytes.fromhex("020000000001")


def made(offsets: list[int], state: str = "s2") -> Record:
    """A record of a minute, its second half under load."""
    record = Record(start=time.monotonic() - 60)
    record.phases += [Phase(IDLE, 0), Phase(LOADED, 30), Phase("ending", 60)]
    record.pings.append((40.0, "PF", 1.5))
    half = len(offsets) // 2
    for number, offset in enumerate(offsets):
        at = number % half + (30.5 if number >= half else 0.5)
        record.offsets.append(Offset(at, offset, state if number >= half else "s2", -5, 250))
    for second in range(4):
        counts = (1000 * second, 500 * second)
        bytes_ = (64000 * second, 32000 * second)
        record.counters.append(Counters(second, 0.5 * second, {"PF": counts}, {"PF": bytes_}, {"bad FCS": second}))
    return record


def test_rates_are_of_twin_time() -> None:
    (of,) = made([0] * 8).rates().values()
    assert of.frames == (2000, 1000)
    assert of.bits == (1_024_000, 512_000)
    assert Record().rates() == {}


def test_figures_of_the_clock() -> None:
    record = made([1, -1, 1, -1, 3, -3, 3, -3])
    assert rms(record.offsets_in(IDLE)) == 1
    assert (rms(record.offsets_in(LOADED)), peak(record.offsets_in(LOADED))) == (3, 3)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (made([0, 1, 0, 1, 0, 1, 1, 1]), []),
        (made([0, 1, 0, 1, 4, 4, -4, 4]), ["worse under load"]),
        (made([0, 0, 0, 0], "s1"), ["left s2", "left s2"]),
    ],
)
def test_a_promise_that_is_not_kept_is_told(record: Record, words: list[str]) -> None:
    found = verdict(record, (8, 8))
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_a_load_that_was_not_there_is_told() -> None:
    record = made([0, 1, 0, 1, 0, 1, 1, 1])
    assert verdict(record, (8, 8)) == []
    assert ["load was not there" in sentence for sentence in verdict(record, (8, 4))] == [True]
    assert len(verdict(record, (0, 0))) == 1
    record.pings.clear()
    assert ["ping of the PF" in sentence for sentence in verdict(record, (8, 8))] == [True]


def test_what_linux_prints_is_understood() -> None:
    link = (
        '[{"ifname":"eth0","stats64":{"rx":{"bytes":10,"packets":1},"tx":{"bytes":20,"packets":2}},'
        '"vfinfo_list":[{"vf":1,"stats":{"rx":{"bytes":30,"packets":3},"tx":{"tx_bytes":40,"tx_packets":4}}}]}]'
    )
    found = pf_and_vfs(link)
    assert found["VF 1"]["tx"] == {"bytes": 40, "packets": 4}
    assert set(found) == {"PF", "VF 1"}
    text = "NIC statistics:\n     card_rx_queue_full: 7\n     port_rx_bad_fcs: 0\n     port_rx_runt: 2\n"
    assert drops(text) == {"no free buffer in the queue": 7, "runt": 2}


def test_numbers_for_people() -> None:
    assert [rate(value) for value in (0, 999, 1000, 37_200_000, 25e9)] == ["0 ", "999 ", "1 k", "37.2 M", "25 G"]
    assert sparks(made([0, 1, -9, 2]).offsets) == "▁▃█▅"
    console = Console(width=140, file=io.StringIO())
    console.print(View(made([1] * 8)))
    shown = console.file.getvalue()
    assert "+1 ns from the grandmaster" in shown
    assert "2 kf/s" in shown
    assert "bad FCS" in shown


def test_trains_come_at_line_rate_and_are_timed(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """Through a real card: every frame of each size is timed, and a train is as fast as the wire."""
    capture, train = tmp_path / "card.pcapng", 20
    card = run_card("--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control, Host.connect(card.socket) as host:
        host.bring_up(1)
        control.ask("capture", file=str(capture))
        host.add_mac(MAC)
        wire = card.wires[0]
        for number in range(train * len(SIZES)):
            wire.send(frame(MAC, number, SIZES[number // train]))
        assert len(host.receive(train * len(SIZES))) == train * len(SIZES)
        control.ask("capture_end")
    sizes = of_sizes(packets(capture), train)
    assert [it.size for it in sizes] == list(SIZES)
    for it in sizes:
        assert it.sent == len(it.nanoseconds) == train
        assert it.line == pytest.approx(1, abs=0.02)
        assert 50 < it.quantile(0.5) < 5000
    file = report.write(tmp_path, made([1, 0, 1, 0, 1, 0, 1, 0]), sizes, (3, 2))
    page = file.read_text()
    assert page.count("<svg") == 3
    assert "Silicom" in page and "1514 B" in page and "card.pcapng" in page
    ET.fromstring(page.partition("\n")[2].replace('<meta charset="utf-8">', ""))


def test_a_number_is_read_from_our_frames_only() -> None:
    assert number_of(frame(MAC, 77, 64)) == 77
    assert number_of(bytes(60)) is None


def test_trains_are_around_each_sync_and_who_is_not_covered_is_told() -> None:
    def passed(at: int, data: bytes) -> Passed:
        return Passed("wire0", at, True, data)

    moments = times(7, 128, 10)
    assert moments[0] < 7 * PERIOD_PS + SYNC_PS < moments[-1]
    assert {after - before for before, after in pairwise(moments)} == {(128 + 20) * 8 * 40}
    sync = bytes(12) + b"\x08\x00" + bytes(22) + b"\x01\x3f" + bytes(20)
    train = [passed(at, frame(MAC, n, 64)) for n, at in enumerate((100, 200, 400, 9000, 9900))]
    assert covered([*train, passed(300, sync), passed(7000, sync), passed(20000, sync)]) == (2, 1)
    assert covered([passed(300, sync)]) == (0, 0)


def test_a_capture_cut_short_is_told(tmp_path: Path) -> None:
    file = tmp_path / "cut.pcapng"
    file.write_bytes(b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c")
    with pytest.raises(PcapngError, match="cut short"):
        list(packets(file))


class FakeControl:
    """Time that runs as fast as it is asked for."""

    now = 0

    def ask(self, _: str) -> dict[str, int]:
        self.now += PERIOD_PS
        return {"t_ps": self.now}


def test_bursts_come_until_they_are_ended_and_say_when_the_wire_is_gone(tmp_path: Path) -> None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(str(tmp_path / "wire"))
    server.listen()
    record = Record()
    bursts = Bursts(tmp_path / "wire", [MAC], 3, FakeControl(), record)  # type: ignore[arg-type]
    end, _ = server.accept()
    end.settimeout(10)
    assert [number_of(end.recv(4096)[16:]) for _ in range(6)] == list(range(6))
    end.close()
    deadline = time.monotonic() + 10
    while len(record.bursts) < 3 and time.monotonic() < deadline and bursts.is_alive():
        time.sleep(0.05)
    bursts.close()
    assert any("bursts ended" in text for _, text in record.notes)
