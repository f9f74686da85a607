# SPDX-License-Identifier: Apache-2.0
"""testpmd on the null card: frames as they come and go, and what is refused."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from cuts import Cut, must_be_segments, whole
from dpdk_fixtures import library
from large_frames import TCP, large
from meridian_golden.shell import padded
from sessions import Testpmd, counters, read_capture, write_capture, xstats

__all__ = ["library"]  # a fixture
NULL = "net_meridian_null0"


@pytest.fixture
def testpmd(library: Path) -> Testpmd:
    return Testpmd(library, f"meridian{os.getpid()}")


def holds(path: Path, frames: int, size: int) -> Callable[[], bool]:
    """Whether a capture has so many frames of a size."""
    return lambda: path.exists() and path.stat().st_size >= frames * (16 + size) + 24


def made(frame: bytes) -> int:
    """The number of a frame that the null card has made, all of which is looked at."""
    number = int.from_bytes(frame[26:30], "big")
    assert frame[:14] == bytes([2] * 6 + [6] * 6 + [8, 0])
    assert int.from_bytes(frame[16:18], "big") == len(frame) - 14
    assert frame[42:] == bytes((number + at) & 0xFF for at in range(42, len(frame)))
    return number


def some_frames(seed: int, count: int, longest: int) -> list[bytes]:
    random = Random(seed)
    ends = [60, 61, 64, 255, 256, 257, min(2047, longest), min(2048, longest), longest]
    sizes = ends + [random.randint(60, longest) for _ in range(count - len(ends))]
    return [random.randbytes(size) for size in sizes]


@pytest.mark.parametrize(
    ("size", "options"),
    [(60, []), (1514, []), (60, ["--force-max-simd-bitwidth=64"]), (60, ["--force-max-simd-bitwidth=128"])],
)
def test_received_frames_are_whole_and_in_order(
    testpmd: Testpmd, tmp_path: Path, size: int, options: list[str]
) -> None:
    write_capture(tmp_path / "none.pcap", [])
    taken = tmp_path / "taken.pcap"
    devices = [f"{NULL},fill=1,length={size}", f"net_pcap0,rx_pcap={tmp_path}/none.pcap,tx_pcap={taken}"]
    with testpmd.start(devices, "--forward-mode=io", eal=options) as session:
        session.say("start")
        session.wait(holds(taken, 2000, size))
    frames = read_capture(taken)
    assert {len(frame) for frame in frames} == {size}
    numbers = [made(frame) for frame in frames]
    assert all((after - before) % 65536 == 1 for before, after in itertools.pairwise(numbers))


def there_and_back(
    testpmd: Testpmd, folder: Path, frames: list[bytes], *options: str, script: Sequence[str] = (), card: str = NULL
) -> tuple[list[bytes], dict[str, int]]:
    """Frames through testpmd to the card, which gives them back; and the card's counters."""
    write_capture(folder / "sent.pcap", frames)
    pcap = f"net_pcap0,rx_pcap={folder}/sent.pcap,tx_pcap={folder}/back.pcap"
    with testpmd.start([pcap, f"{card},loop=1"], "--forward-mode=io", *options) as session:
        for line in script:
            session.say(line)
        session.say("start")
        session.wait_received(len(frames), 1)
        session.say("show port xstats 1")
    return read_capture(folder / "back.pcap"), xstats(session.output())


def test_frames_come_back_as_they_went(testpmd: Testpmd, tmp_path: Path) -> None:
    frames = some_frames(1, 3000, 1514)
    assert there_and_back(testpmd, tmp_path, frames)[0] == frames


@pytest.mark.parametrize("card", [NULL, f"{NULL},pieces=1"])
def test_jumbo_frames_take_several_buffers_and_go_out_in_one(testpmd: Testpmd, tmp_path: Path, card: str) -> None:
    """Both ways: pcap hands frames in several segments, and so does the receiver of the card."""
    frames = some_frames(2, 400, 9000)
    script = ["port stop 1", "port config 1 tx_offload multi_segs on", "port start 1"]
    back, counted = there_and_back(testpmd, tmp_path, frames, "--max-pkt-len=9600", script=script, card=card)
    assert back == frames
    assert counted["tx_copied"] and bool(counted["tx_gathered"]) == (card != NULL)


def test_segments_of_tcp_are_sent(testpmd: Testpmd, tmp_path: Path) -> None:
    """Of what pcap hands in several segments of memory, testpmd's csum mode makes frames for the card to cut."""
    random, capture, addresses = Random(3), tmp_path / "cut.pcap", bytes([2] * 12)
    frames = [replace(large(random, addresses, random.randint(1001, 7900)), protocol=TCP) for _ in range(200)]
    write_capture(tmp_path / "sent.pcap", [whole(frame) for frame in frames])
    pcap = f"net_pcap0,rx_pcap={tmp_path}/sent.pcap,tx_pcap={tmp_path}/none.pcap"
    options = ("--forward-mode=csum", "--max-pkt-len=9600", "--disable-device-start")
    with testpmd.start([pcap, f"{NULL},segments=1,capture={capture}"], *options) as session:
        for line in ("csum set ip hw 1", "csum set tcp hw 1", "tso set 1000 1", "port start all", "start"):
            session.say(line)
        session.wait_received(len(frames), 0)
        session.say("show port xstats 1")
    counted = xstats(session.output())
    assert counted["tx_segmented"] == len(frames) and counted["tx_gathered"] > 100, session.output()
    came = [padded(addresses + frame[12:]) for frame in read_capture(capture)]
    must_be_segments(came, [Cut(frame, 1000) for frame in frames])


@pytest.mark.parametrize("mode", ["mac", "csum", "macswap"])
def test_frames_are_sent_as_testpmd_has_changed_them(testpmd: Testpmd, tmp_path: Path, mode: str) -> None:
    capture = tmp_path / "sent.pcap"
    card = f"{NULL},fill=1,capture={capture}"
    with testpmd.start([card], f"--forward-mode={mode}", "--eth-peer=0,02:11:22:33:44:55") as session:
        session.say("start")
        session.wait(holds(capture, 2000, 60))
    frames = read_capture(capture)
    for frame in frames:
        number = int.from_bytes(frame[26:30], "big")
        assert frame[42:] == bytes((number + at) & 0xFF for at in range(42, len(frame)))
        if mode == "macswap":
            assert frame[:12] == bytes([6] * 6 + [2] * 6)
        else:
            assert frame[:6] == bytes.fromhex("021122334455")


def test_generated_frames_are_all_sent(testpmd: Testpmd, tmp_path: Path) -> None:
    capture = tmp_path / "sent.pcap"
    with testpmd.start([f"{NULL},receive=0,capture={capture}"], "--forward-mode=txonly") as session:
        session.say("start")
        session.wait(holds(capture, 2000, 64))
    frames = read_capture(capture)
    assert counters(session.output(), 0)["TX-packets"] == len(frames)
    assert {len(frame) for frame in frames} == {64}


@pytest.mark.parametrize("queues", [2, 8])
def test_every_queue_receives(testpmd: Testpmd, queues: int) -> None:
    with testpmd.start([NULL], f"--rxq={queues}", f"--txq={queues}", "--forward-mode=rxonly") as session:
        session.say("start")
        session.wait_received(10000)
        session.say("show port xstats 0")
    counted = xstats(session.output())
    assert all(counted[f"rx_q{queue}_packets"] > 0 for queue in range(queues)), session.output()


def test_a_queue_stops_and_starts(testpmd: Testpmd) -> None:
    with testpmd.start([NULL], "--rxq=2", "--txq=2", "--forward-mode=rxonly") as session:
        session.say("port 0 rxq 1 stop")
        session.say("start")
        session.wait_received(10000)
        session.say("show port xstats 0")
        session.say("stop")
        session.say("port 0 rxq 1 start")
        session.say("clear port stats 0")
        session.say("start")
        session.wait_received(10000)
        session.say("show port xstats 0")
    before, after = session.output().split("NIC extended statistics for port 0")[1:]
    assert "rx_q1_packets: 0\n" in before
    assert xstats(after)["rx_q1_packets"] > 0


def test_a_port_stops_and_starts_again_and_again(testpmd: Testpmd) -> None:
    with testpmd.start([NULL], "--forward-mode=io") as session:
        for _ in range(4):
            session.say("clear port stats all")
            session.say("start")
            session.wait_received(1000)
            session.say("stop")
            session.say("port stop 0")
            session.say("port start 0")
    told = [line for line in session.output().splitlines() if line.startswith("meridian: ")]
    assert len(told) == 1 and "the card has no address for the PF" in told[0], told


@pytest.mark.parametrize(
    ("devargs", "sentence"),
    [
        ("length=59", "length=59: not a number from 60 to 9600"),
        ("length=many", "length=many: not a number from 60 to 9600"),
        ("colour=red", "a null card knows length"),
        ("queues=0", "queues=0: a function has 1 to 256 queues"),
        ("mac=01:00:5e:00:00:01", "mac=01:00:5e:00:00:01: that is no unicast address"),
        ("capture=/nowhere/at/all", "capture=/nowhere/at/all: No such file or directory"),
        ("map=2.0", "the card's register map is version 2.0, this driver knows 1."),
        ("map=1.0", "take the driver that came with the card's image"),
        ("map=latest", "map=latest: not a version as 1.0"),
    ],
)
def test_a_wrong_argument_is_refused_in_a_sentence_and_makes_no_port(
    testpmd: Testpmd, devargs: str, sentence: str
) -> None:
    started = time.monotonic()
    output = testpmd.run([f"{NULL},{devargs}"])
    assert sentence in output
    assert "Port 0" not in output
    assert time.monotonic() - started < 30


def test_a_hierarchy_of_classes_is_built_by_testpmds_commands(testpmd: Testpmd) -> None:
    """What is wrong is refused in a sentence, and the rest is shown as data center bridging, too."""
    root, node = "add port tm nonleaf node 0 9999", "add port tm nonleaf node 0"
    script = [
        *("stop", "port stop 0", f"{root} -1 0 1 0 -1 2 0 0"),
        *(f"{node} 1001 9999 1 30 1 -1 1 7 0", f"{node} 1003 9999 1 10 1 -1 1 7 0", f"{node} 1005 9999 0 1 1 -1 1 7 0"),
        *(f"{node} 1013 9999 0 1 1 -1 1 7 0", "add port tm leaf node 0 0 1001 0 1 2 -1 0 0 0 0"),
        *("show port tm node type 0 1003", "port tm hierarchy commit 0 no", "port start 0"),
        *("show port tm level cap 0 1", "show port tm node cap 0 9999", "show port dcb_tc 0"),
    ]
    output = testpmd.run([f"{NULL},classes=1"], script=script)
    assert "the class has a node already: it is the number of the node modulo 8" in output
    assert "queues are no nodes: a frame's priority chooses its class" in output
    assert output.count("(error ") == 2, output
    shares = re.search(r"BW percent :(.*)", output)
    assert shares and shares[1].split() == ["0%", "75%", "0%", "25%", "0%", "0%", "0%", "0%"], output


def test_a_shaper_that_the_card_cannot_be_is_refused_to_testpmds_user_in_a_sentence(testpmd: Testpmd) -> None:
    """The first profile is good, and so are the nodes that have it; the others have one fault each."""
    profile, node = "add port tm node shaper profile 0", "add port tm nonleaf node 0"
    refused = {
        f"{profile} 2 0 0 61035 0 24 0": "the rate is below the lowest one of the card",
        f"{profile} 2 0 0 8000000000 0 24 0": "the rate is above the highest one of the card",
        f"{profile} 2 0 0 625000000 4194304 24 0": "the card's buckets hold at most 4194303 bytes",
        f"{profile} 2 0 0 625000000 1 24 0": "the card's buckets hold 64 bytes at least",
        f"{profile} 2 700000000 0 625000000 0 24 0": "the committed rate is above the peak rate",
        f"{profile} 2 0 0 625000000 0 0 0": "so the length is adjusted by 24",
        f"{profile} 2 0 0 625000000 0 24 1": "the card's rates are of bytes, and not of frames",
        f"{profile} 1 0 0 625000000 0 24 0": "there is a profile of this number already",
        "del port tm node shaper profile 0 2": "there is no profile of this number",
        "del port tm node shaper profile 0 1": "a node has this profile: delete it, or give it another one first",
        "add port tm node shared shaper 0 1 1": "no traffic classes of the card share a shaper",
        f"{node} 1005 9999 0 1 1 2 1 7 0": "there is no profile of this number",
        "add port tm leaf node 0 0 9999 0 1 1 1 0 0 0 0": "queues are no nodes",
    }
    script = [
        *("stop", "port stop 0", f"{profile} 1 0 0 625000000 0 24 0"),
        *(f"{node} 9999 -1 0 1 0 1 1 0 0", f"{node} 9999 -1 0 1 0 -1 1 0 0"),
        *(f"{node} 1003 9999 0 1 1 1 1 7 0", f"{node} 1007 9999 0 1 1 1 1 7 0"),
        *refused,
        *("port tm hierarchy commit 0 no", "port start 0", "show port tm level cap 0 1"),
        "set port tm node shaper profile 0 9999 1",
    ]
    output = testpmd.run([f"{NULL},classes=1"], script=script)
    for command, sentence in refused.items():
        assert sentence in output, command
    assert output.count("the card holds traffic classes to rates, and not the port") == 2
    assert output.count("(error ") == len(refused) + 2, output
    assert "cap.nonleaf.shaper_private_rate_min 61036" in output


@pytest.mark.parametrize(("bits", "way"), [(64, "Scalar"), (128, "Vector SSE"), (256, "Vector AVX2")])
def test_the_widest_vector_that_is_allowed_receives(testpmd: Testpmd, bits: int, way: str) -> None:
    if bits == 256 and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    output = testpmd.run([NULL], eal=[f"--force-max-simd-bitwidth={bits}"], script=["show rxq info 0 0"])
    assert re.search(r"Burst mode: (.*)", output)[1].strip() == way  # type: ignore[index]


def test_the_port_reports_its_limits_and_its_burst_mode(testpmd: Testpmd) -> None:
    script = ["show port info 0", "show port 0 rss-hash", "show rxq info 0 0", "show port summary 0"]
    output = testpmd.run([f"{NULL},mac=02:4d:52:44:4e:01"], script=script)
    for words in (
        "MAC address: 02:4D:52:44:4E:01",
        "Driver name: net_meridian_null",
        "Link speed: 25 Gbps",
        "Minimum size of RX buffer: 512",
        "Maximum configurable length of RX packet: 9600",
        "Max possible number of RXDs per queue: 4096",
        "Hash key size in bytes: 40",
        "Redirection table size: 128",
        "Burst mode: Vector ",
    ):
        assert words in output, words
