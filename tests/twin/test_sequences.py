# SPDX-License-Identifier: Apache-2.0
"""The public drivers' sequences against the whole card: up, frames both ways, down, and once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dma_engines import QDMA_IP
from frames import MINE, PEER, frame
from meridian_twin import Host, Link, Memory
from meridian_twin.pf_service import PfService
from sequences.device import Device
from sequences.dpdk_pf import DpdkPf
from sequences.onic_pf0 import Onic
from sequences.qdma_pf import DATA_VECTOR, QdmaPf
from sequences.qdma_vf import DATA_VECTOR as VF_VECTOR
from sequences.qdma_vf import QdmaVf
from test_frames import connect

__all__ = ["connect"]
#: The model of the QDMA IP has the version that it is told. Our own engine is made with that of EQDMA 5.0.
ENGINES = {"own": ("--dma", "meridian"), "eqdma5": QDMA_IP, "eqdma4": QDMA_IP}


@pytest.fixture(params=ENGINES)
def machine(request: Any, run_card: Any) -> Iterator[tuple[Any, Device, str]]:
    engine = ENGINES[request.param]
    version = "eqdma4" if request.param == "eqdma4" else "eqdma5"
    card = run_card("--qdma", version, configuration=engine)
    # Rings below 4 GiB, as onic's coherent mask wants them.
    memory = Memory(96 << 20, base=0x2000_0000)
    with Link(card.socket) as link:
        link.share(memory)
        link.enable(0)
        yield card, Device(link, 0, memory), version
    memory.close()


def on_wire(card: Any, link: Link, count: int) -> list[bytes]:
    return [f.data for f in link.collect(card.wires[0].take, count, "frames on the wire")]


def open_by_hand(device: Device, queues: int = 1) -> None:
    """What users of Xilinx's own drivers poke into OpenNIC's registers; then a read, behind which it is in force."""
    for register, value in ((0x1000, queues), (0x8014, 1), (0x800C, 1)):
        device.write(register, value, bar=2)
    for _ in range(2):
        device.read(0x8014, bar=2)


def test_the_opennic_driver_passes_frames_opens_and_closes_again(machine: tuple[Any, Device, str]) -> None:
    card, device, _ = machine
    onic = Onic(device, queues=2)
    onic.probe()
    for round_ in range(2):
        onic.open()
        sizes = [40, 60, 1514, 3000, 3840]
        for number, size in enumerate(sizes):
            onic.transmit(number % 2, frame(size, number, PEER, MINE))
        for tx in onic.tx:
            tx.drain()
        assert sorted(on_wire(card, device.link, 5)) == sorted(
            frame(size, n, PEER, MINE).ljust(60, b"\0") for n, size in enumerate(sizes)
        )
        incoming = [frame(size, 100 * round_ + size) for size in (60, 1514, 3840)]
        for data in incoming:
            card.wires[0].send(data)
        # Frames that are not IP go to one queue, whose interrupt comes before anything is looked at.
        device.link.wait(lambda: device.link.interrupts.total() > 0, "the interrupt")
        (_, vector) = next(iter(device.link.interrupts))
        device.link.interrupts.clear()
        assert device.link.collect(lambda queue=vector: onic.napi(queue), 3, "frames") == incoming
        card.wires[0].send(frame(200, 7))
        device.link.wait(lambda: device.link.interrupts.total() > 0, "the interrupt after arming")
        assert device.link.collect(lambda queue=vector: onic.napi(queue), 1, "frames") == [frame(200, 7)]
        device.link.interrupts.clear()
        onic.stop()
    onic.remove()
    assert device.read(0x248) == 0


def test_the_opennic_driver_goes_around_its_rings(machine: tuple[Any, Device, str]) -> None:
    """More frames than buffers and completions, in batches of the NAPI budget."""
    card, device, _ = machine
    onic = Onic(device, queues=1)
    onic.probe()
    onic.open()
    for batch in range(22):
        frames = [frame(64, 100 * batch + n) for n in range(50)]
        for data in frames:
            card.wires[0].send(data)
        assert device.link.collect(lambda: onic.napi(0), 50, "frames") == frames


def test_the_qdma_kernel_driver_passes_frames_on_a_pf(machine: tuple[Any, Device, str]) -> None:
    card, device, version = machine
    driver = QdmaPf(device, version)
    driver.probe()
    open_by_hand(device, 8)
    for round_ in range(2):
        driver.start_queue()
        driver.transmit(frame(1000, round_, PEER, MINE))
        assert on_wire(card, device.link, 1) == [frame(1000, round_, PEER, MINE)]
        for number in range(3):
            card.wires[0].send(frame(1500, number))
            device.link.wait(lambda: device.link.interrupts[0, DATA_VECTOR] > 0, "the ring's interrupt")
            got: list[bytes] = []
            while not got:  # the first is of the transmit queue, which was armed
                device.link.wait(lambda: device.link.take_interrupts(0, DATA_VECTOR) > 0, "an interrupt")
                got = driver.handle_interrupt()
            assert got == [frame(1500, number)]
        driver.stop_queue()
    driver.remove()


def test_the_qdma_dpdk_driver_passes_frames_on_a_pf(machine: tuple[Any, Device, str]) -> None:
    card, device, version = machine
    driver = DpdkPf(device, version)
    driver.probe()
    driver.configure()
    open_by_hand(device)
    for _ in range(2):
        driver.set_up_queue()
        driver.start()
        for burst in range(20):
            out = [frame(60 + n, n, PEER, MINE) for n in range(32)]
            driver.tx_burst(out)
            driver.tx.drain()
            assert on_wire(card, device.link, 32) == out
            back = [frame(60 + 10 * n, 1000 * burst + n) for n in range(32)]
            for data in back:
                card.wires[0].send(data)
            assert device.link.collect(driver.rx_burst, 32, "frames") == back
        driver.stop()
    driver.close()
    assert not device.link.interrupts


@pytest.mark.parametrize("aggregated", [True, False], ids=["kernel", "dpdk"])
def test_the_qdma_drivers_pass_frames_on_vfs(run_card: Any, connect: Any, aggregated: bool) -> None:
    card = run_card()
    host: Host = connect(card)
    host.bring_up()
    PfService(host, range(100, 200))
    link = host.link
    for function in (4, 5):
        mine = MINE[:5] + bytes([function])
        link.enable(function, parent=0)
        driver = QdmaVf(Device(link, function, host.memory), aggregated)
        driver.probe()
        driver.configure()
        driver.start()
        host.add_mac(mine, function)
        host.settle()
        driver.transmit(frame(1000, 1, PEER, mine))
        assert on_wire(card, link, 1) == [frame(1000, 1, PEER, mine)]
        card.wires[0].send(frame(5000, 2, mine))
        if aggregated:
            link.wait(lambda f=function: link.interrupts[f, VF_VECTOR] > 0, "the ring's interrupt")
        assert link.collect(driver.receive, 1, "frames") == [frame(5000, 2, mine)]
        driver.close()
