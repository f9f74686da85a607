# SPDX-License-Identifier: Apache-2.0
"""OpenNIC's box with its plug-in p2p, unchanged, at the wire: frames pass both ways, and its registers are reached. The
variable OPENNIC names a checkout of OpenNIC's shell, whose sources are not part of this repository."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from bench import WIRE_OVERHEAD, Bench
from conftest import Start
from meridian_card.shell import OKAY, SLVERR
from test_box import BOXES, made, register, to_host, to_wire, window
from test_isolation import BOB, WIRE, frame

CHECKOUT = os.environ.get("OPENNIC", "")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not CHECKOUT, reason="the variable OPENNIC names no checkout of OpenNIC's shell"),
]
BEAT = 64
#: Files of the page's list, in its order: OpenNIC's, and ours.
OF_OPENNIC = (
    "src/open_nic_shell_macros.vh",
    "plugin/p2p/box_250mhz/box_250mhz_address_map_inst.vh",
    "plugin/p2p/box_250mhz/user_plugin_250mhz_inst.vh",
    "plugin/p2p/box_250mhz/box_250mhz_address_map.v",
    "plugin/p2p/p2p_250mhz.sv",
    "src/utility/generic_reset.sv",
    "src/utility/axi_lite_slave.sv",
    "src/utility/axi_lite_register.sv",
    "src/box_250mhz/box_250mhz.sv",
)
OURS = ("axi_stream_pipeline.sv", "box_250mhz_axi_crossbar.sv", "opennic_box.sv")
#: Where nothing of OpenNIC answers with a word: it gives back the address, and which of its modules this is.
P2P, DUMMY, NOWHERE = 0x0000, 0x1000, 0x8000


@pytest.fixture
def bench(start: Start) -> Bench:
    theirs = [str(Path(CHECKOUT).resolve() / name) for name in OF_OPENNIC]
    missing = [name for name in theirs if not Path(name).is_file()]
    assert not missing, f"OPENNIC is no checkout of OpenNIC's shell: there is no {missing[0]}"
    files = ",".join((*theirs, *(str(BOXES / "opennic" / name) for name in OURS)))
    return made(start, files, BEAT, also=("--box-module", "opennic_box"))


def test_frames_of_all_sizes_pass_both_ways(bench: Bench) -> None:
    """Each size that ends a beat, one less and one more, up to 9,000 bytes."""
    random = Random(11)
    ends = range(BEAT, 9000, BEAT)
    sizes = [60, 9000, *(end + more for end in ends for more in (-1, 0, 1) if 60 <= end + more <= 9000)]
    random.shuffle(sizes)
    received = [BOB + WIRE + b"\x88\xb5" + random.randbytes(size - 14) for size in sizes]
    sent = [WIRE + BOB + b"\x88\xb5" + random.randbytes(size - 14) for size in sizes]
    for one, other in zip(received, sent, strict=True):
        bench.shell.rx(one)
        bench.shell.h2c(0, other, metadata=0)
        bench.step(random.choice((0, 500, 3000)))
    bench.drain()
    assert to_host(bench) == received and to_wire(bench) == sent
    counts = bench.shell.events("BOX")
    assert [counts[name] for name in ("rx_passed", "rx_sent", "tx_passed", "tx_sent")] == [len(sizes)] * 4
    assert not any(counts[name] for name in ("rx_dropped", "rx_refused", "tx_dropped", "tx_refused"))


def test_smallest_frames_pass_at_line_rate(bench: Bench) -> None:
    count = 2000
    for number in range(count):
        bench.shell.rx(frame(BOB, number, 60))
        bench.shell.h2c(0, frame(WIRE, number, 60, source=BOB), metadata=0)
    bench.drain()
    assert to_host(bench) == [frame(BOB, number, 60) for number in range(count)]
    events = bench.seen.wire[0]
    assert to_wire(bench) == [frame(WIRE, number, 60, source=BOB) for number in range(count)]
    ns = (events[-1]["t_ps"] - events[100]["t_ps"]) / 1000
    rate = (count - 101) * (60 + WIRE_OVERHEAD) * 8 / ns
    print(f"{rate:.2f} of {bench.rate} Gb/s of the wire")
    assert rate > 0.99 * bench.rate
    assert bench.shell.counters("PORT_COUNTERS")["rx_host_overflow"] == 0


def test_registers_of_p2p_are_reached(bench: Bench) -> None:
    assert bench.shell.read(register(bench, "ID")).to_bytes(4, "big") == b"ONIC"
    assert bench.shell.read(register(bench, "STATUS")) == 1
    for bus, away in (("pf", 0), ("ps", 0x10_0000)):
        at = window(bench, 0) - away
        assert bench.shell.access(at + P2P + 0x24, bus=bus) == (0xB000_0024, OKAY)
        assert bench.shell.access(at + DUMMY + 0x24, bus=bus) == (0xD000_0024, OKAY)
        assert bench.shell.access(at + NOWHERE, bus=bus)[1] == SLVERR
        assert bench.shell.access(at + P2P, 1, bus=bus)[1] == OKAY
