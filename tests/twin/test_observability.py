# SPDX-License-Identifier: Apache-2.0
"""What one can see of a running card: counters, events, captures; and what its control socket does not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import dpkt
import pytest
from meridian_twin import CardError, Host
from meridian_twin.control import Control, ControlError
from meridian_twin.driver import Ps
from meridian_twin.pcapng import packets

MINE = bytes.fromhex("02aabbccdd01")
PEER = bytes.fromhex("021111111111")


def frame(number: int, to: bytes = MINE, of: bytes = PEER) -> bytes:
    return to + of + b"\x88\xb5" + bytes([number]) * 60


def interfaces_of(file: Path) -> dict[str, list[bytes]]:
    """Frames of each interface of a capture."""
    found: dict[str, list[bytes]] = {}
    for packet in packets(file):
        found.setdefault(packet.interface, []).append(packet.data)
    return found


def test_captures_counters_and_events_show_each_frame(run_card: Callable[..., Any], tmp_path: Path) -> None:
    log = tmp_path / "log"
    card = run_card("--control", str(tmp_path / "control"), "--log", str(log))
    with Control(tmp_path / "control") as control, Host.connect(card.socket) as host, Ps.connect(card.socket) as ps:
        control.ask("follow")
        host.bring_up(1)
        host.add_mac(MINE)
        ps.start(0, PEER)
        file = tmp_path / "all.pcapng"
        control.ask("capture", file=str(file))
        card.wires[0].send(frame(1))
        assert host.receive(1) == [frame(1)]
        card.wires[0].send(frame(2, to=PEER))
        got: list[bytes] = []
        ps.link.wait(lambda: bool(got.extend(f.data for f in ps.ports[0].poll()) or got), "a frame for the PS")
        host.send(frame(3, to=PEER, of=MINE))
        ps.send(frame(4, to=MINE, of=PEER))
        sent: list[bytes] = []
        host.link.wait(lambda: len(sent.extend(f.data for f in card.wires[0].take()) or sent) == 2, "two frames out")
        ps.link.wait(lambda: bool(ps.ports[0].poll() or not ps.ports[0].sending), "the PS's completion")
        assert control.ask("capture_end")["frames"] == 8
        seen = interfaces_of(file)
        assert seen["host"] == [frame(1), frame(3, PEER, MINE)]
        assert seen["ps0"] == [frame(2, PEER), frame(4, MINE, PEER)]
        assert sorted(seen["wire0"]) == sorted([frame(1), frame(2, PEER), *sent])
        with file.open("rb") as stream:
            assert len(list(dpkt.pcapng.Reader(stream))) == 8
        counted = control.ask("stats")["ports"][0]
        assert counted["rx"]["frames"] == counted["tx"]["frames"] == 2

        control.ask("link", up=False)
        control.ask("link", up=True)
        host.link.reset_function(0)
        control.ask("stats")
        told = [event["ev"] for event in control.events]
        assert told.count("link") == 2 and "reset_function_done" in told
    times = [json.loads(line)["t_ps"] for line in log.read_text().splitlines()]
    assert times == sorted(times) and len(times) > 3


def test_frames_at_the_host_are_whole_and_between_wire_and_rings(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """Whichever DMA engine there is: lengths that end anywhere in a beat, from the capture's start to its end."""
    card = run_card("--time", "lockstep", "--control", str(tmp_path / "control"))
    file = tmp_path / "all.pcapng"
    random = Random(1)
    sizes = [60, 63, 64, 65, 95, 96, 97, 511, 512, 1514]
    come, go = (
        [to + of + b"\x88\xb5" + random.randbytes(n - 14) for n in sizes] for to, of in ((MINE, PEER), (PEER, MINE))
    )
    with Control(tmp_path / "control") as control, Host.connect(card.socket, lockstep=True) as host:
        host.bring_up(1)
        host.add_mac(MINE)

        def pass_all() -> None:
            for one in come:
                card.wires[0].send(one)
            for one in go:
                host.send(one)
            host.link.advance(30_000_000)
            assert host.take() == come
            assert [sent.data for sent in card.wires[0].take()] == go

        pass_all()
        begun = host.link.advance(0)
        control.ask("capture", file=str(file))
        pass_all()
        control.ask("capture_end")
        ended = host.link.advance(0)
        pass_all()
    passed = [packet for packet in packets(file) if packet.interface == "host"]
    assert [packet.data for packet in passed if packet.inbound] == come
    assert [packet.data for packet in passed if not packet.inbound] == go
    assert all(begun <= 1000 * packet.time_ns + 999 and 1000 * packet.time_ns <= ended for packet in passed)
    wire = {packet.data: packet.time_ns for packet in packets(file) if packet.interface == "wire0"}
    for packet in passed:
        # To the host it has come whole; from there the shell has it before its first bit is on the wire.
        way_ns = packet.time_ns - wire[packet.data]
        length_ns = 8 * len(packet.data) / 25
        assert length_ns < way_ns < length_ns + 2000 if packet.inbound else 0 < -way_ns, (packet, way_ns)


def test_a_wire_that_is_cut_passes_no_frame_and_keeps_its_link(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """Neither way passes, nothing comes later, and the link stays up."""
    card = run_card("--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control, Host.connect(card.socket) as host:
        host.bring_up(1)
        host.add_mac(MINE)
        control.ask("cut", on=True)
        host.send(frame(1, to=PEER, of=MINE))
        card.wires[0].send(frame(2))
        host.link.wait(lambda: control.ask("stats")["ports"][0]["cut"] == 2, "two frames lost")
        assert control.ask("stats")["ports"][0]["link_up"]
        control.ask("cut", on=False)
        card.wires[0].send(frame(3))
        assert host.receive(1) == [frame(3)]
        host.send(frame(4, to=PEER, of=MINE))
        sent: list[bytes] = []
        host.link.wait(lambda: bool(sent.extend(f.data for f in card.wires[0].take()) or sent), "a frame out")
    assert sent == [frame(4, to=PEER, of=MINE)]


def test_frames_wait_in_order_while_memory_of_the_ps_stands_still(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """Frames for it wait in the card, and come in their order when memory answers again."""
    card = run_card("--control", str(tmp_path / "control"))
    frames = [frame(number) for number in range(5)]
    got: list[bytes] = []
    with Control(tmp_path / "control") as control, Ps.connect(card.socket) as ps:
        ps.start(0, MINE)
        ps.card.access(0, None, "ps")  # behind the writes of the start
        control.ask("ps_memory", on=False)
        for one in frames:
            card.wires[0].send(one)
        ps.link.wait(lambda: control.ask("stats")["ports"][0]["rx"]["frames"] == len(frames), "frames in the card")
        assert ps.ports[0].poll() == []
        control.ask("ps_memory", on=True)
        ps.link.wait(lambda: len(got.extend(f.data for f in ps.ports[0].poll()) or got) == len(frames), "the frames")
    assert got == frames


def test_a_receivers_pulse_is_stamped(run_card: Callable[..., Any], tmp_path: Path) -> None:
    """A source beside the card's pin, while time is left out between its edges; and one that nobody knows."""
    log = tmp_path / "log"
    pulse = "pps:offset_ns=-500000000,width=1ms"
    card = run_card("--ext-ts", pulse, "--log", str(log), "--time", "lockstep")  # a free card would run ahead of us
    stamps: list[int] = []
    with Host.connect(card.socket, lockstep=True) as host, Ps.connect(card.socket) as ps:
        ps.phc.stamp_edges()
        for _ in range(3):
            host.link.advance(10**12)
            stamps += ps.phc.edges_ns()
    events = map(json.loads, log.read_text().splitlines())
    edges = [event for event in events if event["ev"] == "ext_ts"]
    assert [event["level"] for event in edges] == [True, False] * 3
    for second, (rise, fall) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
        # To the next edge of a clock.
        assert 0 <= rise["t_ps"] - (second * 10**12 + 500_000_000_000) <= 4000
        assert 0 <= fall["t_ps"] - (second * 10**12 + 501_000_000_000) <= 4000
    assert [stamp - stamps[0] for stamp in stamps] == pytest.approx([0, 10**9, 2 * 10**9], abs=4)
    with pytest.raises(CardError, match="choose loop or pps"):
        run_card("--ext-ts", "gps")


def test_frames_get_a_wrong_fcs_on_demand(run_card: Callable[..., Any], tmp_path: Path) -> None:
    card = run_card("--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control, Host.connect(card.socket) as host:
        host.bring_up(1)
        host.add_mac(MINE)
        control.ask("fcs", direction="rx", next=2)
        for number in range(4):
            card.wires[0].send(frame(number))
        assert host.receive(2) == [frame(2), frame(3)]
        assert host.card.counters("PORT_COUNTERS")["rx_bad_fcs"] == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "parse error"),
        ("[1]", "must be an object"),
        ('{"op": "fly"}', "no operation is named fly"),
        ('{"op": 7}', "must be a string"),
        ('{"op": "link", "port": 9, "up": true}', "choose 0 to 0"),
        ('{"op": "link"}', "must be true or false"),
        ('{"op": "ps_memory"}', "must be true or false"),
        ('{"op": "fcs", "direction": "up"}', "rx or tx"),
        ('{"op": "clock", "direction": "tx"}', "must be true or false"),
        ('{"op": "fcs", "direction": "rx", "probability": 2}', "choose 0.0 to 1.0"),
        ('{"op": "capture", "file": "/nowhere/at/all"}', "nowhere"),
        ('{"op": "trace", "file": "x.fst", "for_ns": 100}', "without tracing"),
    ],
)
def test_the_control_socket_refuses_a_wrong_line_with_the_reason(
    run_card: Callable[..., Any], tmp_path: Path, line: str, words: str
) -> None:
    run_card("--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control:
        control.send(line)
        assert words in control.line()["error"]
        assert control.ask("help")["stats"]


def test_an_endless_line_or_a_missing_card_is_an_error(run_card: Callable[..., Any], tmp_path: Path) -> None:
    run_card("--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as greedy, pytest.raises(ControlError):
        greedy.send("x" * 200_000)
        greedy.line()
    with Control(tmp_path / "control") as control:
        assert control.ask("stats")["simulation"]
    with pytest.raises(ControlError, match="no card answers"):
        Control(tmp_path / "elsewhere")
