# SPDX-License-Identifier: Apache-2.0
"""What a host asks of its frames, from the metadata of descriptors to the wire; and functions in a VLAN of their own."""

from __future__ import annotations

from random import Random
from typing import Any

from frames import MINE, PEER, frame
from meridian_golden.checksum import checksums
from meridian_golden.frame import with_tag
from meridian_golden.offload import Request, filled
from meridian_twin import Host, Offload, QueueSetting
from packets import packet, scrambled
from test_frames import connect, on_wire

__all__ = ["connect"]
ASKS = QueueSetting(transmit_offload=True)
VF, VLAN = 4, 0x6005
VF_MAC = bytes.fromhex("02aabbccdd04")


def packets(random: Random, count: int, source: bytes = MINE) -> list[bytes]:
    frames = []
    for number in range(count):
        tag = b"\x81\0\0\x07" if random.random() < 0.3 else b""
        head = PEER + source + tag
        size = random.choice((60, 64, 65, 90, 200, 1514, 4000))
        data = head + packet(random, size - len(head), number.to_bytes(4, "big"))
        frames.append(scrambled(random, data, 4))
    return frames


def test_checksums_and_tags_that_descriptors_ask_for(run_card: Any, connect: Any) -> None:
    card = run_card()
    host: Host = connect(card)
    host.bring_up(setting=ASKS)
    random = Random(3)
    due, skipped = [], 0
    for data in packets(random, 150):
        ask = Offload(
            vlan=random.getrandbits(16) if random.random() < 0.3 else None,
            ip_checksum=random.random() < 0.7,
            l4_checksum=random.random() < 0.7,
        )
        host.send(data, offload=ask)
        right, missing = filled(data, Request(ask.vlan, ask.ip_checksum, ask.l4_checksum))
        due.append(right if ask.vlan is None else with_tag(right, ask.vlan))
        skipped += missing
    host.drain()
    assert [got.data for got in on_wire(host, card.wires[0], len(due))] == due
    counters = host.card.counters("FUNCTION", 0)
    assert counters["tx_offload_skipped"] == skipped > 10
    assert counters["tx_bytes"] == sum(map(len, due))
    assert sum(checksums(data).l4 == "good" for data in due) > 30


def test_metadata_of_a_descriptor_mean_nothing_without_the_queues_switch(run_card: Any, connect: Any) -> None:
    """A reset takes the switch away, so no later owner of the queue has it."""
    card = run_card()
    host: Host = connect(card)
    host.bring_up()
    vf = host.bring_up_vf(VF, 1, base=8, setting=ASKS)
    host.card.set_flags(VF, broadcast=True, all_multicast=False, promiscuous=False, trusted=True)
    host.settle()
    everything = Offload(vlan=9, ip_checksum=True, l4_checksum=True)
    data = packets(Random(5), 1)[0]
    host.send(data, offload=everything)
    assert on_wire(host, card.wires[0], 1)[0].data == data
    vf.send(data, offload=everything)
    assert on_wire(host, card.wires[0], 1)[0].data != data
    switches = host.card.regs.address("QUEUE", "SWITCHES", index=8)
    assert host.card.read(switches) == 2
    host.link.reset_function(VF)
    host.link.wait(lambda: host.card.read(switches) == 0, "the switch of the queue to be off")


def test_a_vf_does_not_see_the_vlan_it_is_in(run_card: Any, connect: Any) -> None:
    card = run_card()
    host: Host = connect(card)
    host.bring_up()
    setting = QueueSetting(completion16=True, transmit_offload=True)
    vf = host.bring_up_vf(VF, 1, base=8, setting=setting)
    host.card.set_vlan(VF, strip=True, insert=VLAN)
    host.add_mac(VF_MAC, VF, vid=VLAN & 0xFFF)
    host.settle()
    plain = frame(100, 1, PEER, VF_MAC)
    vf.send(plain)
    vf.send(plain, offload=Offload(vlan=77))  # its function's goes before
    assert [got.data for got in on_wire(host, card.wires[0], 2)] == [with_tag(plain, VLAN)] * 2
    vf.send(with_tag(plain, VLAN))
    vf.drain()
    host.link.wait(lambda: host.card.counters("FUNCTION", VF)["tx_spoof"] == 1, "a frame with a tag dropped")
    incoming = frame(100, 2, VF_MAC, PEER)
    card.wires[0].send(with_tag(incoming, VLAN))
    assert vf.receive(1) == [incoming]
    assert vf.pairs[0].c2h.completions[0].vlan_tci is None
