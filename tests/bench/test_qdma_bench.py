# SPDX-License-Identifier: Apache-2.0
"""The bench of the QDMA model: it checks order and length of each frame itself, here it has to be plausible. Behind the
streams are their pins alone, or the self-test block of the simulated shell."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from dma_engines import QDMA_IP

SHORT = ("--warm-us", "50", "--for-us", "60")
GEN3X8 = 8 * 8e9 * 128 / 130  # bits/s each way, headers included


def runner(program: Path, *first: str) -> Any:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [program, *first, *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture
def bench(programs: Any) -> Any:
    return runner(programs(*QDMA_IP) / "qdma_bench")


@pytest.fixture
def block(programs: Any) -> Any:
    """With the self-test block of a shell of 256 bits."""
    return runner(programs("--self-test", "true", *QDMA_IP) / "qdma_bench", "--source", "block")


@pytest.fixture
def own(programs: Any) -> Any:
    """With the self-test block of a shell that has the DMA engine of our own."""
    return runner(programs("--dma", "meridian", "--self-test", "true") / "qdma_bench", "--source", "block")


def measured(bench: Any, *options: str) -> Any:
    done = bench(*SHORT, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_pins_bound_the_rate_if_no_link_is_modelled(bench: Any) -> None:
    """512 bits at 250 MHz: a frame of 1024 bytes takes 64 ns."""
    result = measured(bench, "--bytes", "1024", "--queues", "4", "--poll-ns", "100")
    assert result["mpps"] == pytest.approx(1e3 / 64, rel=0.03)
    assert result["gbps"] == pytest.approx(result["mpps"] * 8 * 1.024)


def test_a_link_bounds_the_rate_and_adds_to_the_latency(bench: Any) -> None:
    wide, narrow = (measured(bench, "--bytes", "1024", "--queues", "4", "--pcie", link) for link in ("3:16", "3:8"))
    assert 0.45 < narrow["mpps"] / wide["mpps"] < 0.55
    # 1024 bytes are 65 ns on 16 lanes, and half of the round trip of 800 ns.
    alone = measured(bench, "--bytes", "1024", "--pcie", "3:16", "--gap-ns", "2000")
    assert 465 < alone["latency_ns"]["min"] <= alone["latency_ns"]["median"] < 600
    assert alone["mpps"] == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("function", ["pf", "vf"])
@pytest.mark.parametrize(("mode", "other"), [("c2h", "h2c"), ("h2c", "c2h")])
def test_one_direction_moves_no_byte_the_other_way(bench: Any, mode: str, other: str, function: str) -> None:
    found = measured(bench, "--mode", mode, "--bytes", "200", "--queues", "3", "--function", function, "--pcie", "3:8")
    assert found["mode"] == mode
    assert found[other]["frames"] == found[other]["bytes_at_pins"] == 0
    assert found["frames"] == found[mode]["frames"] > 100
    # A frame at either end of the time may be cut, and a completion arrives half a round trip behind its frame.
    assert found[mode]["bytes_at_pins"] == pytest.approx(200 * found["frames"], rel=0.1)


@pytest.mark.parametrize("mode", ["forward", "both", "loopback", "round-trip"])
def test_each_mode_of_both_directions_moves_frames_in_both(bench: Any, mode: str) -> None:
    found = measured(bench, "--mode", mode, "--bytes", "200", "--pcie", "3:8", "--poll-ns", "50")
    assert min(found[direction]["frames"] for direction in ("c2h", "h2c")) > 3


@pytest.mark.parametrize(("size", "queues"), [(64, 4), (2112, 1)])
def test_forwarding_is_measured_after_the_rings_of_the_host_are_full(bench: Any, size: int, queues: int) -> None:
    """Until the rings of the host are full, more frames come than go."""
    found = measured(bench, "--bytes", str(size), "--queues", str(queues), "--pcie", "3:16", "--for-us", "200")
    assert found["h2c"]["frames"] == pytest.approx(found["c2h"]["frames"], rel=0.02)


def test_forwarding_settles_though_the_host_hears_of_many_frames_at_a_time(bench: Any) -> None:
    """With so little room for H2C it is a little slower than C2H, and rings of 8 queues go up and down."""
    link = ("--pcie", "3:8", "--pcie-answers", "128", "--pcie-answer-bytes", "32768")
    found = measured(bench, "--bytes", "1518", "--queues", "8", "--h2c-bytes", "7000", *link, "--for-us", "4000")
    assert found["h2c"]["frames"] == pytest.approx(found["c2h"]["frames"], rel=0.02)


def test_c2h_reaches_95_percent_of_what_the_link_can_carry(bench: Any) -> None:
    """A frame of 1024 bytes is four packets of 256 and a completion of 16, each with 24 bytes around it. The rest is status
    entries and requests of descriptors."""
    found = measured(bench, "--mode", "c2h", "--bytes", "1024", "--queues", "8", "--pcie", "3:8")
    most = GEN3X8 / 8 / (1024 + 16 + 5 * 24) / 1e6
    assert 0.95 * most < found["mpps"] < most


def test_h2c_reaches_95_percent_of_what_the_link_can_carry(bench: Any) -> None:
    """A frame of 1024 bytes is four answers of 256 with 20 bytes around each; its descriptor has 16."""
    found = measured(bench, "--mode", "h2c", "--bytes", "1024", "--queues", "8", "--pcie", "3:8")
    most = GEN3X8 / 8 / (1024 + 16 + 4 * 20) / 1e6
    assert 0.95 * most < found["mpps"] <= 1.01 * most


def test_a_round_trip_of_a_frame_takes_three_round_trips_of_the_link(bench: Any) -> None:
    """Frame and completion to the host, doorbell to the card, descriptor, data: half, half, one, one."""
    options = ("--mode", "round-trip", "--bytes", "1", "--pcie", "3:8", "--poll-ns", "10")
    for link_ns in (400, 800):
        found = measured(bench, *options, "--pcie-round-trip", str(link_ns))["round_trip_ns"]
        assert 3 * link_ns < found["min"] < 3 * link_ns + 100
        assert found["frames"] > 3


@pytest.mark.parametrize("size", [1, 7, 20, 64, 65, 2015, 4096])
@pytest.mark.parametrize("mode", ["round-trip", "loopback"])
def test_loopback_and_round_trip_pass_frames_of_each_size(bench: Any, mode: str, size: int) -> None:
    assert measured(bench, "--mode", mode, "--bytes", str(size), "--pcie", "2:8")["frames"] > 2


def test_frames_arrive_whole_if_buffers_are_at_random_places(bench: Any) -> None:
    found = measured(bench, "--mode", "both", "--random", "--queues", "16", "--pcie", "3:16")
    assert found["c2h"]["frames"] > 100
    assert found["h2c"]["frames"] > 100


def test_a_rate_below_the_limit_passes_with_the_latency_of_the_link(bench: Any) -> None:
    for mode, latency in (("c2h", "latency_ns"), ("h2c", "h2c_latency_ns")):
        found = measured(bench, "--mode", mode, "--gap-ns", "200", "--pcie", "3:16", "--poll-ns", "50")
        assert found["mpps"] == pytest.approx(5, rel=0.05)
        # One way across the link for C2H; for H2C the doorbell's, and two reads.
        least = {"c2h": 400, "h2c": 2000}[mode]
        assert least < found[latency]["min"] < least + 150


@pytest.mark.parametrize("function", ["pf", "vf"])
@pytest.mark.parametrize(("mode", "other"), [("c2h", "h2c"), ("h2c", "c2h")])
@pytest.mark.long
def test_the_self_test_block_counts_the_direction_that_moves_alone(
    block: Any, mode: str, other: str, function: str
) -> None:
    options = ("--mode", mode, "--bytes", "200", "--queues", "3", "--function", function, "--pcie", "3:8")
    found = measured(block, *options, "--warm-us", "200")  # until what the IP has room for is full
    assert (found["mode"], found["source"]) == (mode, "self-test block")
    assert found[other]["frames"] == found[other]["bytes_at_pins"] == 0
    assert found["frames"] == found[mode]["frames"] > 100
    assert found[mode]["bytes_at_pins"] == pytest.approx(200 * found["frames"], rel=0.1)


@pytest.mark.parametrize("size", [1, 33, 34, 300, 4096])
@pytest.mark.parametrize("mode", ["forward", "both"])
@pytest.mark.long
def test_the_self_test_block_sends_and_checks(block: Any, mode: str, size: int) -> None:
    """A frame that came back wrong, late or not at all would end the program."""
    found = measured(block, "--mode", mode, "--bytes", str(size), "--queues", "2", "--pcie", "3:8", "--poll-ns", "50")
    assert min(found[direction]["frames"] for direction in ("c2h", "h2c")) > 30
    assert found["timed_by"] == ("window" if size >= 34 else "pins")
    # The two counters are read one after the other.
    assert found["h2c"]["bytes_at_pins"] == pytest.approx(size * found["h2c"]["frames"], abs=8 * size)


@pytest.mark.parametrize("link_ns", [0, 400, 800])
@pytest.mark.long
def test_the_window_times_a_round_trip(block: Any, link_ns: int) -> None:
    """It is what the pins show, and three round trips of the link on top of the engine's share."""
    options = ("--mode", "round-trip", "--bytes", "64", "--pcie", "3:8", "--poll-ns", "10", "--for-us", "200")
    found = measured(block, *options, "--pcie-round-trip", str(link_ns))
    window, pins = found["round_trip_ns"], found["round_trip_at_pins_ns"]
    assert found["timed_by"] == "window"
    assert window["frames"] > 20
    assert window["min"] == pytest.approx(pins["min"], abs=4.1)
    assert window["max"] == pytest.approx(pins["max"], abs=4.1)
    low, high = window["median_between"]
    assert low <= pins["median"] < high
    assert 3 * link_ns + 50 < window["min"] < 3 * link_ns + 150


@pytest.mark.long
def test_the_window_times_frames_of_the_host(block: Any) -> None:
    """One way across the link for the doorbell, and two reads."""
    found = measured(block, "--mode", "h2c", "--gap-ns", "400", "--pcie", "3:16", "--poll-ns", "50")
    assert found["mpps"] == pytest.approx(2.5, rel=0.05)
    assert 2000 < found["h2c_latency_ns"]["min"] < 2150


def test_a_shell_without_the_block_is_refused(bench: Any) -> None:
    done = bench("--source", "block")
    assert (done.returncode, done.stdout) == (2, "")
    assert "this shell has no self-test block: build one with scripts/build-card --self-test true" in done.stderr


@pytest.mark.long
def test_the_block_has_no_loop(block: Any) -> None:
    done = block("--mode", "loopback")
    assert (done.returncode, done.stdout) == (2, "")
    assert "choose --source pins" in done.stderr


def registers(block: Any, load: str) -> Any:
    options = ("--count", "50", "--bytes", "4096", "--queues", "8", "--pcie", "3:8")
    done = block("--registers", load, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_a_register_waits_behind_what_the_card_writes(block: Any) -> None:
    found = {load: registers(block, load) for load in ("idle", "h2c", "c2h", "both")}
    idle = found["idle"]
    assert idle["load"]["c2h"]["frames"] == idle["load"]["h2c"]["frames"] == 0
    # There and back, and the shell's bus between.
    shell = idle["shell_read_us"]["median"]
    assert 0 < shell < 0.2
    assert idle["read_us"]["median"] == pytest.approx(0.8 + shell, abs=0.03)
    assert idle["write_us"]["median"] == pytest.approx(0.4 + idle["shell_write_us"]["median"], abs=0.03)
    assert 0 < found["h2c"]["read_us"]["median"] - idle["read_us"]["median"] < 0.05
    for load in ("c2h", "both"):
        assert found[load]["read_us"]["median"] > idle["read_us"]["median"] + 0.3
        # At most 32 packets of 256 bytes.
        assert found[load]["read_us"]["max"] < idle["read_us"]["max"] + 32 * 280 / (GEN3X8 / 8) * 1e6 + 0.05
        assert found[load]["write_us"]["median"] < idle["write_us"]["median"] + 0.05


@pytest.mark.parametrize(("mode", "other"), [("c2h", "h2c"), ("h2c", "c2h")])
@pytest.mark.long
def test_our_engine_moves_one_direction(own: Any, mode: str, other: str) -> None:
    found = measured(own, "--mode", mode, "--bytes", "200", "--queues", "2", "--pcie", "3:8", "--poll-ns", "4000")
    assert (found["engine"], found["mode"]) == ("meridian", mode)
    assert found[other]["frames"] == found[other]["bytes_at_pins"] == 0
    assert found[mode]["frames"] > 100
    # One way across the link cannot be timed, as the streams are inside the shell.
    assert not {"latency_ns", "h2c_latency_ns"} & set(found)


@pytest.mark.long
def test_our_engine_answers_registers_while_a_host_rings_more_than_it_takes(own: Any) -> None:
    """Each of 8 queues has two doorbells in 500 ns, some 8 cycles apart. Those that wait do not become more and more, so
    that the counters of the self-test block can be read within 100 us."""
    options = ("--mode", "c2h", "--queues", "8", "--pcie", "3:8", "--poll-ns", "500", "--for-us", "200")
    assert measured(own, *options)["frames"] > 2000


@pytest.mark.long
def test_a_round_trip_with_our_engine_has_three_round_trips_of_the_link(own: Any) -> None:
    """Three round trips of the link, and as much for engine, shell and host at each of its lengths."""
    options = ("--mode", "round-trip", "--bytes", "64", "--pcie", "3:8", "--poll-ns", "10", "--for-us", "200")
    none, some = (measured(own, *options, "--pcie-round-trip", link)["round_trip_ns"] for link in ("0", "800"))
    assert none["frames"] > 20
    assert some["min"] - none["min"] == pytest.approx(3 * 800, abs=20)


@pytest.mark.long
def test_our_engine_answers_registers_in_the_time_of_the_link(own: Any) -> None:
    found = registers(own, "idle")
    assert found["engine"] == "meridian"
    assert "write_us" not in found
    assert found["read_us"]["median"] == pytest.approx(0.8 + found["shell_read_us"]["median"], abs=0.03)


def test_a_wrong_option_ends_the_bench_with_status_2_and_a_sentence(bench: Any) -> None:
    for options, message in (
        (("--bytes", "0"), "--bytes: choose 1 to 4096"),
        (("--bytes", "4097"), "--bytes: choose 1 to 4096"),
        (("--queues", "17"), "--queues: choose 1 to 16"),
        (("--mode", "sideways"), "--mode: choose forward, c2h, h2c, both, loopback or round-trip"),
        (("--mode", "idle"), "--mode: choose forward, c2h, h2c, both, loopback or round-trip"),
        (("--registers", "forward"), "--registers: choose idle, c2h, h2c or both"),
        (("--source", "wire"), "--source: choose pins or block"),
        (("--function", "ps"), "--function: choose pf or vf"),
        (("--count", "0"), "--count: choose 1 to 100000"),
        (("--pcie", "9:9"), "--pcie: choose a generation"),
        (("--nonsense",), "no option is named --nonsense"),
    ):
        done = bench(*options)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
