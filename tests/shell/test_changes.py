# SPDX-License-Identifier: Apache-2.0
"""Settings that change under traffic: frames about the time of a change have either verdict, all others the right one."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from checks import check
from conftest import Start
from test_random import DEFAULT, PLAIN, VEB, Setting, load, ready, world
from traffic import PLENTY, World, unicast
from wide import WIDE

pytestmark = pytest.mark.seconds(14)
VF = 4
#: So long full buffers take to empty, and how long a frame may wait in them.
EMPTY_NS = 100_000


@dataclass
class Changes:
    """Changes at random, as the PF's driver and the PS make them."""

    world: World
    done: list[str] = field(default_factory=list)

    def one(self) -> None:
        kinds = [name for name in dir(self) if name.startswith("change_")]
        if not self.world.veb:
            kinds.remove("change_veb")
        name = self.world.random.choice(kinds)
        self.done.append(name)
        getattr(self, name)()

    def _function(self) -> int:
        return self.world.random.randrange(self.world.bench.geometry.functions)

    def _port(self) -> int:
        return self.world.random.randrange(self.world.bench.geometry.ports)

    def change_flags(self) -> None:
        self.world.bench.set_flags(self._function(), *(self.world.random.random() < 0.4 for _ in range(5)))

    def change_queues(self) -> None:
        world, function = self.world, self._function()
        count = world.random.randint(0, world.bench.queues_each)
        first = world.bench.queue_home(function) + world.random.randrange(world.bench.queues_each - count + 1)
        world.bench.set_queues(function, first if count else 0, count)

    def change_indirection(self) -> None:
        world, function = self.world, self._function()
        count = world.bench.golden.functions[function].queue_count or 1
        world.bench.set_indirection(function, [world.random.randrange(count) for _ in range(128)])

    def change_key(self) -> None:
        self.world.bench.set_hash_key(self._function(), tuple(self.world.random.getrandbits(32) for _ in range(10)))

    def change_hash_order(self) -> None:
        self.world.bench.set_hash_order(self._function(), self.world.random.getrandbits(32) & 0xFFFF0007)

    def change_vlan(self) -> None:
        insert = self.world.random.choice((None, 5, 0x6005))
        self.world.bench.set_vlan(self._function(), self.world.random.random() < 0.5, insert)

    def change_link_state(self) -> None:
        self.world.bench.set_link_state(self._function(), self.world.random.choice((None, True, False)))

    def change_address_added(self) -> None:
        world, function = self.world, self._function()
        port = world.bench.golden.functions[function].port
        world.add_station(port, unicast(world.random), world.random.choice((None, 0, 5)), function)

    def change_address_moved(self) -> None:
        world = self.world
        port, address, vid, _ = world.random.choice(world.stations)
        if (port, address, vid) in world.bench.golden.addresses:
            world.add_station(port, address, vid, self._function())

    def change_address_removed(self) -> None:
        world = self.world
        port, address, vid, _ = world.random.choice(world.stations)
        if (port, address, vid) in world.bench.golden.addresses:
            world.bench.remove_address(port, address, vid)

    def change_default(self) -> None:
        self.world.bench.set_default_function(self._port(), self.world.random.choice((None, self._function())))

    def change_ps_filter(self) -> None:
        self.world.bench.set_ps_filter(
            self._port(), *(self.world.random.random() < chance for chance in (0.9, 0.7, 0.5, 0.1))
        )

    def change_host_enable(self) -> None:
        port = self._port()
        self.world.bench.enable_host(port, self.world.random.random() < 0.7, self.world.random.random() < 0.7)

    def change_link(self) -> None:
        self.world.bench.set_link(self._port(), self.world.random.random() < 0.7)

    def change_veb(self) -> None:
        self.world.bench.set_veb(self._port(), self.world.random.random() < 0.7)

    def change_function_port(self) -> None:
        self.world.bench.set_function_port(self._function(), self._port())

    def change_requests(self) -> None:
        world = self.world
        for queue in world.random.sample(world.queues, min(8, len(world.queues))):
            world.bench.set_requests(queue, *(world.random.random() < 0.6 for _ in range(2)))

    def change_reset(self) -> None:
        """FLR of a VF; its queues are then invalidated, so that a frame that comes late is a drop of the DMA engine."""
        world = self.world
        bench = world.bench
        function = world.random.randrange(VF, bench.geometry.functions)
        bench.function_reset(function)
        home = range(bench.queue_home(function), bench.queue_home(function) + bench.queues_each)
        for queue in home:
            bench.sim.send("stop", queue=queue)
        bench.step(1000)
        for queue in home:
            bench.shell.post(queue, PLENTY)
        if world.random.random() < 0.7:
            bench.step(1000)
            bench.set_queues(function, home[0], len(home))


def run(
    start: Start,
    seed: int,
    configuration: tuple[str, ...],
    changes: int,
    share: float = 0.15,
    lossless: bool = True,
    setting: Setting = PLAIN,
) -> None:
    """share: of the line rate of all ports. Not lossless: the host is slow while frames come, and buffers overflow.

    With VEB on the PS sends nothing, as the bench knows one verdict of each of its frames.
    """
    game = world(start, seed, configuration, ring_log2=8 if lossless else 4, setting=setting)
    bench = game.bench
    ready(game, 90)
    if not lossless:
        bench.inside_ns = EMPTY_NS
    made = Changes(game)
    for _ in range(changes):
        for _ in range(game.random.randint(1, 6)):
            if not lossless:
                ready(game, 2, game.random.choice((4, 20, 100)))
            load(game, 10_000, share / bench.geometry.ports if lossless else share, 4, of_ps=not setting.veb)
            bench.step(game.random.randrange(9_000))
            if game.random.random() < 0.5:
                made.one()
            bench.step(10_000)
            if not lossless:
                bench.sim.send("ready")
                bench.step(EMPTY_NS)
    bench.sim.send("ready")
    bench.drain()
    print(", ".join(name.removeprefix("change_") for name in made.done))
    certain = sum(len(frame.outcomes) == 1 for frame in bench.rx_sent)
    assert certain > len(bench.rx_sent) // 2, "the test knows too little"
    check(bench, lossless)


@pytest.mark.parametrize("configuration", [DEFAULT, WIDE], ids=["default", "wide"])
@pytest.mark.parametrize("seed", range(201, 205))
def test_frames_are_right_while_settings_change_under_traffic(
    start: Start, seed: int, configuration: tuple[str, ...]
) -> None:
    run(start, seed, configuration, changes=25)


@pytest.mark.parametrize(
    "configuration", [DEFAULT, pytest.param(WIDE, marks=pytest.mark.long)], ids=["default", "wide"]
)
@pytest.mark.parametrize("seed", [205, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(206, 209))])
def test_changes_at_line_rate_lose_only_what_is_counted(
    start: Start, seed: int, configuration: tuple[str, ...]
) -> None:
    """Hosts and PS are slow: what is lost is counted, all else is right."""
    run(start, seed, configuration, changes=12, share=1.0, lossless=False)


@pytest.mark.long
@pytest.mark.parametrize("configuration", [DEFAULT, WIDE], ids=["default", "wide"])
@pytest.mark.parametrize("seed", range(209, 213))
@pytest.mark.parametrize("lossless", [True, False], ids=["low load", "line rate"])
def test_frames_are_right_while_settings_change_and_functions_switch(
    start: Start, seed: int, lossless: bool, configuration: tuple[str, ...]
) -> None:
    """Edge virtual bridging is on at most ports, and goes off and on."""
    run(start, seed, configuration, 25 if lossless else 12, 0.15 if lossless else 1.0, lossless, VEB)
