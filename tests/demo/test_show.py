# SPDX-License-Identifier: Apache-2.0
"""The whole demo's parts that need no machine: what it makes of numbers, and that its page shows them."""

from __future__ import annotations

import io
import re
import socket
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from meridian_demo.reasons import REASONS
from meridian_show import report, saved
from meridian_show.__main__ import main
from meridian_show.burst import LEAD_PS, PERIOD_PS, SIZES, SYNC_PS, Bursts, frame, number_of, times
from meridian_show.captured import Captured, of, read
from meridian_show.host import dropped, pf_and_vfs
from meridian_show.latency import OfSize, covered
from meridian_show.promises import promises, verdict
from meridian_show.record import IDLE, LOADED, Counters, Offset, Phase, Programs, Record, peak, rms
from meridian_show.view import View, rate, sparks
from meridian_twin import Host
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in
from meridian_twin.pcapng import Passed, PcapngError, packets
from rich.console import Console

MAC = bytes.fromhex("020000000001")


def made(offsets: list[int], state: str = "s2") -> Record:
    """A record of a minute, its second half under load."""
    record = Record(start=time.monotonic() - 60)
    record.phases += [Phase(IDLE, 0), Phase(LOADED, 30), Phase("ending", 60)]
    record.pings.append((40.0, "PF", 1.5))
    record.programs = Programs(100, 90, 12)
    record.receivers = {"PF": MAC.hex(":")}
    record.note("the host is up")
    half = len(offsets) // 2
    for number, offset in enumerate(offsets):
        at = number % half + (30.5 if number >= half else 0.5)
        record.offsets.append(Offset(at, offset, state if number >= half else "s2", -5, 250))
    for second in range(4):
        counts = (1000 * second, 500 * second)
        bytes_ = (64000 * second, 32000 * second)
        record.counters.append(Counters(second, 0.5 * second, {"PF": counts}, {"PF": bytes_}, {"rx_bad_fcs": second}))
    return record


#: All that a capture tells is as promised.
WELL = Captured(syncs=(8, 8), to_ps=(30, 30), from_ps=(10, 10), trains={MAC.hex(":"): (300, 300)})


def broken(record: Record, captured: Captured = WELL) -> list[str]:
    return [it.name for it in promises(record, captured) if not it.kept]


def test_rates_are_of_twin_time() -> None:
    (of,) = made([0] * 8).rates().values()
    assert of.frames == (2000, 1000)
    assert of.bits == (1_024_000, 512_000)
    assert Record().rates() == {}


def test_rms_and_peak_of_the_offset_are_those_of_their_phase() -> None:
    record = made([1, -1, 1, -1, 3, -3, 3, -3])
    assert rms(record.offsets_in(IDLE)) == 1
    assert (rms(record.offsets_in(LOADED)), peak(record.offsets_in(LOADED))) == (3, 3)


@pytest.mark.parametrize(
    ("record", "names"),
    [
        (made([0, 1, 0, 1, 0, 1, 1, 1]), []),
        (made([0, 1, 0, 1, 4, 4, -4, 4]), ["clock"]),
        (made([1, 1, 1, 1, 1, 1, 1, 2]), []),  # 0.32 ns worse
        (made([1, 1, 1, 1, 1, 1, 2, 2]), ["clock"]),  # 0.58 ns worse
        (made([0, 0, 0, 0], "s1"), ["clock"]),
    ],
)
def test_a_clock_that_is_worse_under_load_is_told(record: Record, names: list[str]) -> None:
    assert broken(record) == names


def test_each_promise_can_be_broken_by_itself() -> None:
    def record(**changes: Any) -> Record:
        return replace(made([0, 1, 0, 1, 0, 1, 1, 1]), **changes)

    assert broken(record()) == []
    for away in ((8, 4), (0, 0)):
        assert broken(record(), replace(WELL, syncs=away)) == ["load"]
    for lost in ({"to_ps": (30, 29)}, {"from_ps": (10, 9)}, {"to_ps": (0, 0)}):
        assert broken(record(), replace(WELL, **lost)) == ["PS frames"]
    for got in ((300, 0), (300, 299)):
        assert broken(record(), replace(WELL, trains={MAC.hex(":"): got})) == ["frames of functions"]
    assert broken(record(receivers={})) == ["frames of functions"]
    for programs in (None, Programs(0, 0, 12), Programs(100, 0, 12), Programs(100, 90, 0)):
        assert broken(record(programs=programs)) == ["passthrough"]
    assert broken(record(pings=[])) == ["host's network"]


def with_last(record: Record, **changes: Any) -> Record:
    """Its last look at the counters is behind the load and says this, too."""
    record.counters.append(replace(record.counters[-1], at=59.0, **changes))
    return record


def test_a_frame_without_a_buffer_is_no_broken_promise_if_it_is_counted() -> None:
    some_lost = replace(WELL, trains={MAC.hex(":"): (300, 290)})
    assert broken(with_last(made([0] * 8), full={"PF": 10}), some_lost) == []
    assert broken(with_last(made([0] * 8), full={"PF": 9}), some_lost) == ["frames of functions"]
    assert broken(with_last(made([0] * 8), full={"PF": 9}, drops={"rx_host_overflow": 1}), some_lost) == []


def test_what_the_ps_drops_is_a_broken_promise() -> None:
    record = with_last(made([0] * 8), drops={"rx_ps_policed": 2})
    (found,) = [it for it in promises(record, WELL) if not it.kept]
    assert found.name == "PS frames" and "2 frames were dropped: over the PS's limit." in found.found


def test_the_verdict_is_three_lines_of_sentences() -> None:
    lines = verdict(promises(made([0] * 8), WELL))
    assert len(lines) == 3 and not any("\n" in line for line in lines)
    assert lines[0].startswith("all 6 promises held")
    lines = verdict(promises(Record(), Captured()))
    assert len(lines) == 3 and lines[0].startswith("6 of 6 promises did not hold: clock, load")


def test_counters_of_pf_and_vfs_are_read_from_ip_and_ethtool() -> None:
    link = (
        '[{"ifname":"eth0","stats64":{"rx":{"bytes":10,"packets":1},"tx":{"bytes":20,"packets":2}},'
        '"vfinfo_list":[{"vf":1,"stats":{"rx":{"bytes":30,"packets":3,"dropped":5},"tx":{"tx_bytes":40,"tx_packets":4,"tx_dropped":6}}}]}]'
    )
    found = pf_and_vfs(link)
    assert found["VF 1"]["tx"] == {"bytes": 40, "packets": 4, "dropped": 6}
    assert set(found) == {"PF", "VF 1"}
    text = "NIC statistics:\n     card_rx_queue_full: 7\n     port_rx_bad_fcs: 0\n     port_rx_runt: 2\n"
    drops, full = dropped(found, text)
    assert drops == {"rx_queue_full": 12, "rx_runt": 2, "tx_refused": 6}
    assert full == {"PF": 7, "VF 1": 5}


def test_each_reason_of_a_drop_says_why_it_is_right() -> None:
    for reason in REASONS.values():
        assert reason.why[0].isupper() and reason.why.endswith(".")
        assert len(reason.why.split()) > 5


def test_numbers_are_shown_with_prefixes_and_offsets_as_bars() -> None:
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
        first = (control.ask("stats")["t_ps"] + LEAD_PS) // PERIOD_PS + 1
        for period, size in enumerate(SIZES):
            for n, moment in enumerate(times(first + period, size, train)):
                card.wires[0].send(frame(MAC, period * train + n, size), at_ps=moment)
        assert len(host.receive(train * len(SIZES))) == train * len(SIZES)
        control.ask("capture_end")
    seen = read(capture, train)
    assert [it.size for it in seen.sizes] == list(SIZES)
    assert seen.trains == {MAC.hex(":"): (train * len(SIZES),) * 2} and seen.complete
    for it in seen.sizes:
        assert it.sent == len(it.nanoseconds) == train
        assert it.line == pytest.approx(1, abs=0.02)
        assert 50 < it.quantile(0.5) < 5000
    page = report.write(tmp_path, made([1, 0, 1, 0, 1, 0, 1, 0]), seen).read_text()
    assert "Silicom" in page and ">1514<" in page and 'href="card.pcapng"' in page


def written(folder: Path, record: Record, captured: Captured = WELL) -> ET.Element:
    return ET.fromstring(report.write(folder, record, captured).read_text().partition("\n")[2])


def words(element: ET.Element) -> str:
    return " ".join(element.itertext())


def test_the_report_opens_with_what_was_promised_then_what_ran_then_pictures_then_tables(tmp_path: Path) -> None:
    record = made([1, 0, 1, 0, 1, 0, 1, 0])
    page = written(tmp_path, record)
    heads = [it.text for it in page.iter("h2")]
    assert heads[:4] == ["What was promised, and whether it held", "What ran, where and when", "Pictures", "Tables"]
    (verdict_,) = [it for it in page.iter("p") if it.get("class", "").startswith("verdict")]
    assert words(verdict_).startswith("All 6 promises held")
    held = [it for it in page.iter("li") if it.find("strong") is not None]
    assert [it.find("strong").text for it in held] == ["held"] * 6
    facts = words(next(page.iter("dl")))
    assert all(fact in facts for fact in (record.about.version, record.about.date, record.about.machine))


@pytest.mark.parametrize(
    ("dma", "fact", "models"),
    [
        ("qdma", "of the QDMA IP, as a model", "The MAC, the QDMA IP and PCIe are models."),
        ("meridian", "Meridian's own, in the shell", "The MAC and PCIe are models."),
    ],
)
def test_the_report_names_the_dma_engine_and_what_was_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dma: str, fact: str, models: str
) -> None:
    monkeypatch.setenv("MERIDIAN_DMA", dma)
    page = written(tmp_path, made([0] * 8))
    assert fact in words(next(page.iter("dl"))) and models in words(page)


def test_a_broken_promise_is_told_at_the_top(tmp_path: Path) -> None:
    page = written(tmp_path, made([0] * 8), replace(WELL, to_ps=(30, 29)))
    assert [it.find("strong").text for it in page.iter("li") if it.get("class") == "broken"] == ["broken"]
    assert "1 of 6 promises did not hold: PS frames" in words(page)


def test_text_is_left_numbers_are_right_and_each_drop_says_why(tmp_path: Path) -> None:
    page = written(tmp_path, made([0] * 8))
    for table in page.iter("table"):
        for column in zip(*([*row] for row in table.iter("tr")), strict=True):
            assert len({cell.get("class") for cell in column}) == 1
            numbers = [re.fullmatch(r"[-+\d.,]+( to \d+)?", words(cell)) for cell in column[1:]]
            assert all(numbers) == (column[0].get("class") == "number")
    why = REASONS["rx_bad_fcs"].why
    assert why in words(page)


def test_each_picture_has_units_a_legend_outside_and_words_instead_of_itself(tmp_path: Path) -> None:
    page = written(tmp_path, made([1, 0, 1, 0, 1, 0, 1, 0]), replace(WELL, sizes=[OfSize(68, 3, [400, 401, 500], 1.0)]))
    pictures = list(page.iter("{http://www.w3.org/2000/svg}svg"))
    assert len(pictures) == 3
    for picture, unit in zip(pictures, (", ns", "Mb/s", ", ns"), strict=True):
        assert picture.get("role") == "img" and len(picture.get("aria-label").split()) > 15
        assert unit in words(picture)
        groups = {it.get("id"): it for it in picture.iter() if it.get("id")}
        legend = next(it for name, it in groups.items() if "-legend_" in name)
        axes = next(it for name, it in groups.items() if "-axes_" in name)
        assert legend not in list(axes.iter())
    identifiers = [it.get("id") for it in page.iter() if it.get("id")]
    assert len(identifiers) == len(set(identifiers))


def test_a_run_that_broke_off_has_a_report_too(tmp_path: Path) -> None:
    (tmp_path / "card.pcapng").write_bytes(b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c")
    record = Record()
    record.begin("booting")
    seen = read(tmp_path / "card.pcapng", 100)
    assert not seen.complete
    page = words(written(tmp_path, record, seen))
    assert "6 of 6 promises did not hold" in page and "Its end is missing" in page


def test_a_report_is_made_again_from_a_run_and_its_verdict_and_path_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = with_last(made([0] * 8), full={"PF": 3})
    record.ended = 60.0
    saved.save(record, tmp_path)
    assert replace(saved.load(tmp_path), start=record.start) == record
    monkeypatch.setattr("sys.argv", ["make demo", "--report", str(tmp_path)])
    assert main() == 1  # there is no capture
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:4]] == ["demo"] * 3 + ["the report"]
    assert f"python3 -m http.server --bind 127.0.0.1 --directory {tmp_path}" in lines[4]
    monkeypatch.setattr("sys.argv", ["make demo", "--report", str(tmp_path / "nothing")])
    with pytest.raises(SystemExit):
        main()
    assert "has no record of a run that can be read" in capsys.readouterr().err


def test_messages_of_ptp_are_followed_through_the_card_in_both_directions() -> None:
    def message(number: int, port: int = 319) -> bytes:
        return bytes(12) + b"\x08\x00" + bytes(9) + b"\x11" + bytes(12) + port.to_bytes(2, "big") + bytes([number] * 20)

    train = [Passed("wire0", at, True, frame(MAC, n, 64)) for n, at in enumerate((100, 900))]
    came = [Passed("wire0", 200 + n, True, message(n)) for n in range(5)]
    reached = [Passed("ps0", 300 + n, True, message(n)) for n in range(4)]
    sent = [Passed("ps0", 400 + n, False, message(n, 320)) for n in range(3)]
    left = [Passed("wire0", 950 + n, False, message(n, 320).ljust(60, b"\0")) for n in range(3)]
    before = [Passed("wire0", 50, True, message(9)), Passed("wire0", 250, True, bytes(60))]
    seen = of([*train, *came, *reached, *sent, *left, *before], 100)
    assert (seen.to_ps, seen.from_ps) == ((5, 4), (3, 3))
    assert seen.trains == {MAC.hex(":"): (2, 0)}


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
    deadline = deadline_in(10)
    while len(record.bursts) < 3 and time.monotonic() < deadline and bursts.is_alive():
        time.sleep(0.05)
    bursts.close()
    assert any("bursts ended" in text for _, text in record.notes)
