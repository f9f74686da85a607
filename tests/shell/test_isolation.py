# SPDX-License-Identifier: Apache-2.0
"""What one user of the card does, or fails to do, is nobody else's business: queues, functions, host and PS."""

from __future__ import annotations

from random import Random

import pytest
from bench import Bench
from checks import Counts, check
from conftest import Start
from meridian_card import Shell, Simulator
from meridian_card.shell import OKAY, SLVERR
from meridian_golden.frame import BROADCAST

ALICE = bytes.fromhex("02000000aa01")
BOB = bytes.fromhex("02000000bb02")
CAROL = bytes.fromhex("02000000cc03")
PS = bytes.fromhex("02000000000a")
WIRE = bytes.fromhex("020000000fff")
VF_ALICE, VF_BOB = 4, 5
NOT_THERE = 0xDEADBEEF
BUFFER = 2048


def frame(destination: bytes, number: int, size: int = 200, source: bytes = WIRE) -> bytes:
    return (destination + source + b"\x88\xb5" + number.to_bytes(4, "big")).ljust(size, bytes([number & 0xFF]))


@pytest.fixture
def bench(start: Start) -> Bench:
    """Alice and Bob each have a VF with one queue, Bob's with plenty of buffers; the PS has an address."""
    bench = Bench(start(), ring_log2=10)
    bench.shell.enforce_credit(True)
    bench.enable_host(0, True, True)
    bench.set_ps_filter(0, True, True, False, False)
    bench.add_ps_address(0, PS)
    bench.ps[0].start()
    for function in range(bench.geometry.functions):
        bench.set_flags(function, False, False, False, False)
    for function, address in ((VF_ALICE, ALICE), (VF_BOB, BOB)):
        bench.set_queues(function, bench.queue_home(function), 1)
        bench.add_address(0, address, None, function)
        bench.shell.set_buffer_size(bench.queue_home(function), BUFFER)
    bench.shell.post(bench.queue_home(VF_BOB), 60_000, BUFFER)
    return bench


def got(bench: Bench, queue: int) -> list[bytes]:
    return [bytes.fromhex(event["hex"]) for event in bench.seen.c2h if event["queue"] == queue]


def of_ps(bench: Bench) -> list[bytes]:
    return [received.data for received in bench.seen.ps[0]]


def let_ps_end(bench: Bench) -> None:
    """Until all is in from the wire and the PS has sent everything; the host may stand still."""
    for _ in range(1000):
        bench.step(5_000)
        if not bench.ps[0].sending and bench.sim.now_ps > 1000 * bench.wire_free_at(0):
            bench.step(20_000)
            return
    raise AssertionError("the PS does not come to an end")


def test_queue_without_buffers_drops_only_its_own(bench: Bench) -> None:
    """At line rate: Alice's few buffers go to the frames they are enough for; Bob and the PS miss nothing."""
    random, queue = Random(1), bench.queue_home(VF_ALICE)
    free = 9
    bench.shell.post(queue, free, BUFFER)
    alice, bob, ps = [], [], []
    for number in range(400):
        data = frame(random.choice((ALICE, BOB, BOB, PS)), number, random.choice((60, 300, 2048, 2049, 6000)))
        bench.rx(0, data)
        if data.startswith(BOB):
            bob.append(data)
        elif data.startswith(PS):
            ps.append(data)
        elif free >= (need := -(-len(data) // BUFFER)):
            free -= need
            alice.append(data)
        if number % 20 == 0:
            bench.step(100)
    bench.drain()
    assert got(bench, queue) == alice
    assert got(bench, bench.queue_home(VF_BOB)) == bob
    assert of_ps(bench) == ps
    counts = Counts(bench)
    sent = sum(f.data.startswith(ALICE) for f in bench.rx_sent)
    assert counts.verdict("rx", ("function", VF_ALICE), "queueFull") == sent - len(alice) > 0
    assert counts.port[0]["rx_host_overflow"] == counts.port[0]["rx_ps_overflow"] == 0

    bench.shell.post(queue, 100, BUFFER)
    more = [frame(ALICE, 1000 + number) for number in range(20)]
    bench.shell.run(1000)
    for data in more:
        bench.rx(0, data)
    bench.drain()
    assert got(bench, queue) == alice + more, "buffers that came later are not used"


def test_function_reset_leaves_no_buffers(bench: Bench) -> None:
    """The IP forgets the buffers of a function that is reset, and so does the shell; those given afterwards count."""
    home, count = bench.queue_home(VF_ALICE), min(4, bench.queues_each)
    bench.set_queues(VF_ALICE, home, count)
    for queue in range(home, home + count):
        bench.shell.post(queue, 1000, BUFFER)
    bench.step(1000)
    bench.function_reset(VF_ALICE)
    number = 0
    for queue in range(home, home + count):
        bench.set_queues(VF_ALICE, queue, 1)
        bench.set_flags(VF_ALICE, False, False, False, False)
        for destination in (ALICE, BOB) * 10:
            bench.rx(0, frame(destination, number := number + 1))
        bench.drain()
        assert not got(bench, queue), "a frame went into a buffer of before the reset"

        # The driver may start the queue before it has the range, and then take the range away for a while.
        bench.shell.post(queue, 5, BUFFER)
        bench.set_queues(VF_ALICE, 0, 0)
        bench.set_queues(VF_ALICE, queue, 1)
        last = [frame(ALICE, number := number + 1) for _ in range(9)]
        for data in last:
            bench.rx(0, data)
        bench.drain()
        assert got(bench, queue) == last[:5]
    assert len(got(bench, bench.queue_home(VF_BOB))) == 10 * count
    assert Counts(bench).verdict("rx", ("function", VF_ALICE), "queueFull") == (10 + 4) * count


def test_stalled_host_costs_the_ps_nothing(bench: Bench) -> None:
    """The DMA engine takes nothing while frames for the host come at line rate: the PS receives and sends all the same."""
    bench.shell.post(bench.queue_home(VF_ALICE), 60_000, BUFFER)
    bench.step(1000)
    bench.sim.send("stall", c2h=True)
    expected = []
    for number in range(600):
        if number % 4 == 0:
            expected.append(frame(PS, number))
            bench.rx(0, expected[-1])
            bench.ps_send(0, frame(CAROL, 10_000 + number), number)
            bench.step(200)
        bench.rx(0, frame((ALICE, BOB)[number % 2], number + 1000, 1514))
    let_ps_end(bench)
    assert of_ps(bench) == expected
    assert len(bench.seen.wire[0]) == len(bench.ps_sent[0])
    assert not bench.seen.c2h
    assert Counts(bench).port[0]["rx_host_overflow"] > 100

    bench.sim.send("stall", c2h=False)
    bench.drain()
    assert bench.seen.c2h
    check(bench, lossless=False)


def test_host_in_reset_is_not_seen_by_the_ps(bench: Bench) -> None:
    bench.sim.send("reset", domain="host", on=True)
    expected = []
    for number in range(200):
        expected.append(frame(PS, number))
        bench.rx(0, expected[-1])
        bench.rx(0, frame(BOB, number + 1000, 600))
        bench.ps_send(0, frame(CAROL, 10_000 + number))
        if number % 10 == 0:
            bench.step(1000)
    let_ps_end(bench)
    assert of_ps(bench) == expected
    sent = [bytes.fromhex(event["hex"]) for event in bench.seen.wire[0]]
    assert sent == [frame.data for frame in bench.ps_sent[0]]
    bench.sim.send("reset", domain="host", on=False)
    bench.step(20_000)
    port = bench.shell.counters("PORT_COUNTERS")
    assert port["rx_to_ps"] == len(expected) and port["rx_ps_overflow"] == 0
    assert port["rx_to_host"] + port["rx_host_overflow"] == 200


def test_ps_frames_go_first(bench: Bench) -> None:
    """With the transmit buffer full of the host's frames, a frame of the PS waits for at most one of them."""
    bench.add_address(0, CAROL, None, VF_BOB)
    for number in range(60):
        bench.h2c(bench.queue_home(VF_BOB), frame(PS, number, 1514, source=CAROL))
    bench.step(6_000)
    before = len(bench.seen.wire[0])
    for number in range(8):
        bench.ps_send(0, frame(BOB, 1000 + number, 64))
    bench.step(10)  # hands them to the card
    bench.step(6_000)
    order = [bytes.fromhex(event["hex"]).startswith(BOB) for event in bench.seen.wire[0]]
    first = order.index(True)
    # Some are on their way while the descriptors are read; from the first on it is the PS's turn.
    assert first - before <= 4, f"{first - before} frames of the host went first"
    assert sum(order[first : first + 8 + 7]) == 8
    bench.drain()
    check(bench, lossless=True)


def test_queue_of_another_function_is_out_of_reach(bench: Bench) -> None:
    """RSS of Alice points at Bob's queue, and at one that is nobody's; a queue of nobody sends. All dropped, all counted."""
    away = bench.queue_home(VF_BOB) - bench.queue_home(VF_ALICE)
    nobody = bench.geometry.queues - 1
    bench.shell.post(nobody, 100)
    for entry in (away, nobody - bench.queue_home(VF_ALICE)):
        bench.set_indirection(VF_ALICE, [entry] * 128)
        for number in range(10):
            bench.rx(0, frame(ALICE, 100 * entry + number))
            bench.h2c(nobody, frame(BOB, 100 * entry + number, source=ALICE))
            bench.h2c(bench.queue_home(VF_BOB), frame(PS, 100_000 * entry + number, source=ALICE))
        bench.step(50_000)
    bench.drain()
    assert not bench.seen.c2h and not bench.seen.wire[0]
    counts = Counts(bench)
    assert counts.verdict("rx", ("function", VF_ALICE), "badQueue") == 20
    assert counts.verdict("tx", ("port", 0), "noFunction") == 20
    assert counts.verdict("tx", ("function", VF_BOB), "spoof") == 20
    check(bench, lossless=True)


@pytest.mark.parametrize("seed", [1, 2])
def test_vf_sees_its_own_page_only(bench: Bench, seed: int) -> None:
    """Whatever address a VF uses, it reads its own page; its writes are answered, ignored and counted."""
    random, shell, regs = Random(seed), bench.shell, bench.shell.regs
    for number in range(3):
        bench.rx(0, frame(BOB, number))
    bench.drain()
    bench.set_flags(VF_BOB, True, False, True, False)
    expected = {
        regs["VF_MAGIC"]: shell.read(regs.address("IDENT", "MAGIC")),
        regs["VF_VERSION"]: shell.read(regs.address("IDENT", "VERSION")),
        regs["VF_FUNCTION"]: VF_BOB,
        regs["VF_STATUS"]: sum(
            regs.field("VF", "STATUS", name).at(value)
            for name, value in (("ENABLED", 1), ("LINK_UP", 1), ("GIGABITS", 25))
        ),
        regs["VF_FLAGS"]: regs.field("VF", "FLAGS", "BROADCAST").at(1) | regs.field("VF", "FLAGS", "PROMISCUOUS").at(1),
        regs["VF_QUEUES"]: 1,
        regs["VF_COUNTER_RX_DELIVERED"]: 3,
        regs["VF_COUNTER_RX_BYTES"]: 600,
    }
    places = [
        shell.regs.address("FUNCTION", "QCONF", VF_ALICE),
        shell.regs.address("FUNCTION", "FLAGS", VF_BOB),
        shell.regs.address("FILTER", "MAC_COMMAND"),
        shell.regs.address("IDENT", "SCRATCH"),
        shell.regs.address("PORT", "HOST_ENABLE"),
        0x1000,
        *(random.randrange(1 << 22) for _ in range(60)),
    ]
    scratch = shell.regs.address("IDENT", "SCRATCH")
    shell.write(scratch, 0x12345678)
    watched = [places[0], places[1], places[3], places[4], shell.regs.address("FILTER", "GROUP_DATA")]
    before = [shell.read(address) for address in watched]
    for address in places:
        if address & 0xFFC >= min(regs.counters("VF").values()) and address & 4:
            shell.access(address - 4, function=VF_BOB)  # the high word of a counter is that of the last low one
        data, response = shell.access(address, function=VF_BOB)
        assert (data, response) == (expected.get(address & 0xFFC, 0), OKAY), f"{address:#x}"
        assert shell.access(address, random.getrandbits(32), function=VF_BOB)[1] == OKAY
    for page in (0, 0x1000, 0x110000, 0x200000 + 0x1000 * VF_ALICE):
        for offset, value in expected.items():
            assert shell.read(page + offset, function=VF_BOB) == value, f"{page + offset:#x}"
    assert [shell.read(address) for address in watched] == before
    assert shell.events()["vf_write_refused"] == len(places)
    other = shell.read(regs["VF_COUNTER_RX_DELIVERED"], function=VF_ALICE)
    assert other == 0, "a VF sees another's counters"


def test_every_address_is_answered(bench: Bench) -> None:
    shell, random = bench.shell, Random(3)
    for address in (0x20, 0x900, 0x5000, 0x10000, 0xFFFFC):
        assert shell.access(address) == (NOT_THERE, OKAY), f"{address:#x}"
    before = shell.events()["unmapped"]
    own = [0x112F00, 0x114000 + 0x3000, 0x122000, 0x1FFFFC, 0x200000 + 0x1000 * bench.geometry.functions, 0x200020]
    for address in own:
        assert shell.access(address) == (0, OKAY), f"{address:#x}"
    assert shell.events()["unmapped"] - before == len(own)
    for _ in range(300):
        address = random.randrange(1 << 20, 1 << 22) & ~3
        assert shell.access(address, bus="pf")[1] == OKAY, f"{address:#x}"
    unmapped = shell.regs.ps_address("IDENT", "UNMAPPED")
    before = shell.read(unmapped, "ps")
    assert shell.access(0xF00, bus="ps") == (0, OKAY)
    assert shell.read(unmapped, "ps") == before + 1
    assert shell.access(shell.regs.address("IDENT", "SCRATCH"), 1, strobe=3)[1] == SLVERR
    assert shell.events()["partial_write"] == 1


def test_registers_answer_while_the_ps_clock_is_in_reset(start: Start) -> None:
    """The card's bank lives in the PS's clock: the host is told within 20 us that it does not answer."""
    simulator: Simulator = start()
    shell = Shell(simulator)
    magic = shell.regs.address("IDENT", "MAGIC")
    letters = shell.read(magic)
    shell.set_queues(0, 0, 4)
    simulator.send("reset", domain="ps", on=True)
    started = simulator.now_ns()
    assert shell.access(magic) == (NOT_THERE, SLVERR)
    assert simulator.now_ns() - started < 20_000
    assert shell.access(shell.regs.address("IDENT", "SCRATCH"), 5)[1] == SLVERR
    assert shell.read(shell.regs.address("FUNCTION", "QCONF")) == 4, "the host's own registers wait for the PS"
    assert shell.events()["card_timeout"] == 2
    simulator.send("reset", domain="ps", on=False)
    shell.run(1000)
    assert shell.read(magic) == letters
    shell.enable_host(0)
    shell.post(0, 10)
    for function in range(1, 4):
        shell.set_flags(function, False, False, False, False)
    data = frame(BROADCAST, 1)
    shell.rx(data)
    shell.drain()
    simulator.now_ns()
    assert [event["hex"] for event in simulator.take() if event["ev"] == "c2h"] == [data.hex()]
