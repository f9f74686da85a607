# SPDX-License-Identifier: Apache-2.0
"""Random settings and random traffic, in both directions and to and from the PS, against the golden model."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest
from bench import WIRE_OVERHEAD, Bench
from checks import check
from conftest import Start
from traffic import World
from wide import WIDE

pytestmark = pytest.mark.seconds(10)
DEFAULT: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """What is the same for all of a run.

    veb: ports switch inside the card. pacing: of paced queues, None has some without rates, True some with rates, and
    False none. credit: frames without buffers are dropped in the card. latency: of the PS's memory, in cycles, where the
    run does not draw it; None: the least.
    """

    veb: bool = False
    pacing: bool | None = None
    credit: bool = True
    latency: int | None = None


PLAIN, VEB = Setting(), Setting(veb=True)


def world(
    start: Start, seed: int, configuration: tuple[str, ...], ring_log2: int = 8, setting: Setting = PLAIN
) -> World:
    """A shell with random settings, its clocks off by up to 100 ppm, with any phase."""
    print(f"seed {seed}, configuration {' '.join(configuration) or 'default'}")
    random = Random(seed)
    of = dict(zip(configuration[::2], configuration[1::2], strict=True))
    rate = int(of.get("--line-rate", "25"))
    clocks = [
        "host",
        "ps",
        *(f"mac_{side}_{port}" for side in ("rx", "tx") for port in range(int(of.get("--ports", 1)))),
    ]
    options = ["--seed", str(seed), "--rate", str(rate)]
    for clock in clocks:
        options += [
            "--ppm",
            f"{clock}={random.randint(-100, 100)}",
            "--phase",
            f"{clock}={random.randrange(2_000_000)}",
        ]
    simulator = start(*options, configuration=configuration)
    bench = Bench(simulator, rate=rate, ring_log2=ring_log2, seed=seed)
    bench.pacing = setting.pacing is not False
    made = World(random, bench, veb=setting.veb, rates=setting.pacing is True)
    made.most = made.bench.geometry.max_frame + 100
    if setting.latency is not None:
        bench.sim.send("ps_timing", read_latency=setting.latency, write_latency=setting.latency)
    made.set_up(setting.credit)
    return made


def ready(world: World, least: int, most: int = 100) -> None:
    """Random back-pressure of the DMA engine, from least to most percent of the cycles."""
    random = world.random
    percent = {side: random.randint(least, most) for side in ("c2h", "completion", "h2c")}
    world.bench.sim.send("ready", axil_skew=random.random() < 0.5, **percent)


def load(world: World, ns: int, share: float, frames: int, runts: bool = True, of_ps: bool = True) -> None:
    """Frames for about that time, receiving at a share of line rate; random pauses, so at less on average.

    of_ps: the PS sends some, too.
    """
    random, bench = world.random, world.bench
    for port in range(bench.geometry.ports):
        start = bench.sim.now_ps // 1000 + random.randrange(2000)
        while start < bench.sim.now_ps // 1000 + ns:
            data, bad = world.received(port, runts)
            start = max(start, bench.wire_free_at(port))
            bench.rx(port, data, bad, int(start))
            start += (len(data) + WIRE_OVERHEAD) * 8 / bench.rate / share
    for _ in range(frames):
        bench.h2c(*world.sent())
    for port in range(bench.geometry.ports) if of_ps else ():
        for _ in range(random.randrange(frames // 4 + 1)):
            bench.ps_send(port, world.sent_by_ps(port))
        bench.ps_send(port, world.sent_by_ps(port), world.number & 0xFFFF)


def run(
    start: Start, seed: int, configuration: tuple[str, ...], rounds: int, lossless: bool, setting: Setting = PLAIN
) -> None:
    game = world(start, seed, configuration, ring_log2=8 if lossless else 4, setting=setting)
    bench = game.bench
    for number in range(rounds):
        game.storm = not lossless and number >= rounds // 2
        if lossless:
            ready(game, 90)
            load(game, 10_000, 0.15 / bench.geometry.ports, 8)
        else:
            slow = game.random.choice((4, 20, 100))
            ready(game, slow // 2, slow)
            latency = {name: game.random.randint(1, 300) for name in ("read_latency", "write_latency")}
            bench.sim.send("ps_timing", **latency)
            load(game, 10_000, 1.0, 12)
        bench.step(10_000)
    bench.sim.send("ready")
    bench.drain()
    check(bench, lossless)
    statistics = bench.sim.finish()
    assert statistics["c2h"]["dropped"] == 0


@pytest.mark.parametrize("configuration", [DEFAULT, WIDE], ids=["default", "wide"])
@pytest.mark.parametrize("seed", range(1, 7))
def test_every_frame_arrives_at_low_load(start: Start, seed: int, configuration: tuple[str, ...]) -> None:
    """Nothing overflows: every frame is where it belongs, every counter has its value."""
    run(start, seed, configuration, rounds=60, lossless=True)


@pytest.mark.parametrize("configuration", [DEFAULT, WIDE], ids=["default", "wide"])
@pytest.mark.parametrize("seed", range(101, 105))
def test_no_frame_goes_wrong_at_line_rate_and_each_loss_is_counted(
    start: Start, seed: int, configuration: tuple[str, ...]
) -> None:
    """Line rate against slow hosts and slow memory, then a broadcast storm: what is lost is counted, all else is right."""
    run(start, seed, configuration, rounds=40, lossless=False)


@pytest.mark.parametrize("configuration", [DEFAULT, WIDE], ids=["default", "wide"])
@pytest.mark.parametrize("seed", range(301, 304))
def test_every_frame_that_stays_inside_arrives(start: Start, seed: int, configuration: tuple[str, ...]) -> None:
    """With edge virtual bridging: functions, PS and wire as before, and between each other."""
    run(start, seed, configuration, rounds=60, lossless=True, setting=VEB)


@pytest.mark.parametrize("configuration", [DEFAULT, WIDE], ids=["default", "wide"])
@pytest.mark.parametrize("seed", range(401, 403))
def test_no_frame_that_stays_inside_goes_wrong_at_line_rate(
    start: Start, seed: int, configuration: tuple[str, ...]
) -> None:
    """The same beside line rate, slow hosts and storms."""
    run(start, seed, configuration, rounds=40, lossless=False, setting=VEB)
