# SPDX-License-Identifier: Apache-2.0
"""Small frames that the host writes into the card: they cross without a read of the host's memory."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from frames import MINE, PEER, frame
from meridian_twin import Host, QueueSetting
from meridian_twin.protocol import Status
from test_frames import connect, on_wire

__all__ = ["connect"]
VF, VF_QUEUE = 4, 8
PUSHES = QueueSetting(push=256, pieces=4)
PACED = replace(PUSHES, paced=True)  # as drivers have it: the card grants each descriptor


@pytest.fixture
def machine(run_card: Any, connect: Any, own_dma: bool) -> tuple[Host, Any]:
    if not own_dma:
        pytest.skip("the QDMA IP has no window for pushed frames")
    card = run_card()
    host: Host = connect(card, mapped=False)
    assert host.card.has("PUSH")
    return host, card.wires[0]


@pytest.mark.parametrize("setting", [PUSHES, PACED, QueueSetting(push=256)], ids=["unpaced", "paced", "16 bytes"])
def test_a_pushed_frame_is_not_read_from_memory(machine: tuple[Host, Any], setting: QueueSetting) -> None:
    host, wire = machine
    host.bring_up(queues=2, setting=setting)
    for number, size in enumerate((60, 61, 64, 100, 128, 255, 256)):
        before = host.link.dma["reads"]
        data = frame(size, number, PEER)
        host.send(data, queue=number % 2)
        assert [f.data for f in on_wire(host, wire, 1)] == [data]
        host.drain()
        assert host.link.dma["reads"] == before, f"a frame of {size} bytes was read"
    assert host.card.counters("FUNCTION", 0)["tx_sent"] == 7


def test_vfs_push_too_and_frames_keep_their_order(machine: tuple[Host, Any]) -> None:
    """Some frames are pushed and some are not; those of each queue are on the wire as they were sent."""
    host, wire = machine
    random = Random(7)
    host.bring_up(queues=2, setting=PUSHES)
    mac = bytes.fromhex("02aabbccdd04")
    vf = host.bring_up_vf(VF, 1, base=VF_QUEUE, setting=PACED)
    host.add_mac(mac, VF)
    host.settle()
    due: dict[int, list[bytes]] = {0: [], 1: [], 2: []}
    for number in range(120):
        queue = random.randrange(3)
        data = frame(random.choice((60, 64, 200, 300, 1514)), number, PEER, mac if queue == 2 else MINE)
        (vf if queue == 2 else host).send(data, queue=0 if queue == 2 else queue)
        due[queue].append(data)
        if random.randrange(3) == 0:
            (vf if queue == 2 else host).drain()
    found = [f.data for f in on_wire(host, wire, 120)]
    for frames in due.values():
        assert [data for data in found if data in frames] == frames
    host.drain()
    vf.drain()
    assert vf.pairs[0].h2c.pushed > 5 and host.pairs[0].h2c.pushed > 5


def test_a_card_without_the_window_has_no_bar_4(run_card: Any, connect: Any, own_dma: bool) -> None:
    host: Host = connect(run_card())
    assert host.card.has("PUSH") == own_dma
    assert (host.link.welcome.bar4_bytes > 0) == (host.link.welcome.vf_bar4_bytes > 0) == own_dma
    assert host.link.bar_access(0, 4, 0x100) == ((Status.OK, 0) if own_dma else (Status.UNSUPPORTED, 0xFFFFFFFF))
