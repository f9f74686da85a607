# SPDX-License-Identifier: Apache-2.0
"""A PF in testpmd sees PCIe's reset of a VF that says nothing, by the VF's permission to access memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dma_engines import QDMA_IP
from dpdk_fixtures import library, testpmd
from meridian_twin import Host, Link
from meridian_twin.control import Control
from meridian_twin.mailbox import Code
from meridian_twin.patience import end_of
from meridian_twin.protocol import Role
from meridian_twin.vf import Vf
from test_twin_attach import MAC, PEER, from_wire, udp
from test_twin_pf import ALIEN, pf_of, python_vf, receive
from test_twin_vf import FIRST, frames_for
from testpmd import Testpmd

__all__ = ["library", "testpmd"]  # fixtures
Start = Callable[..., Testpmd]
#: Only the QDMA IP resets so; the DMA engine of our own resets all.
BARE = ("--pcie-reset", "link")
REFUSED = "the client plays one function alone, and asks for that and for VFs of it"


def everything(vf: Vf) -> bytes:
    return vf.memory.read(vf.memory.base, vf.memory.size)


def test_a_bare_reset_of_a_vf_takes_what_it_had(run_card: Any, testpmd: Start) -> None:
    """The reset clears PCIe's own state alone. When the VF may access memory again, no frame comes to that of before."""
    card = run_card(*BARE, configuration=QDMA_IP)
    pf = pf_of(testpmd, card, ",trusted=0x3")
    with python_vf(card) as vf, python_vf(card, FIRST + 1) as other:
        for one in (vf, other):
            one.bring_up(queues=1)
        assert receive(vf, ALIEN) == 0
        card.wires[0].send(ALIEN + PEER + udp(100, 1)[12:])
        assert vf.receive(1) == [ALIEN + PEER + udp(100, 1)[12:]]
        assert receive(other, ALIEN) == -Code.BAD_PARAMETER, "it is the first VF's"
        before = everything(vf)
        vf.link.reset_function(FIRST)
        pf.wait("the address", lambda: receive(other, ALIEN) == 0)
        vf.link.enable(FIRST)
        for frame in (*frames_for(FIRST), *frames_for(FIRST + 1)):
            card.wires[0].send(frame)
        assert other.receive(3) == frames_for(FIRST + 1)
        assert everything(vf) == before

        again = Vf(vf.link, FIRST, vf.memory)
        again.bring_up(queues=1)
        card.wires[0].send(frames_for(FIRST)[1])
        assert again.receive(1) == [frames_for(FIRST)[1]]


def test_queues_that_an_earlier_driver_left_write_nothing(run_card: Any, testpmd: Start, tmp_path: Path) -> None:
    """The queues are still there and get frames while the PF's driver starts."""
    card = run_card(*BARE, "--control", str(tmp_path / "control"), configuration=QDMA_IP)
    with Host(Link(card.socket, Role.PCIE_FUNCTION)) as before:
        before.bring_up(queues=1)
        before.card.set_flags(0, True, True, True, True)
        before.settle()
        card.wires[0].send(udp(100, 1))
        assert before.receive(1) == [udp(100, 1)]
    over = threading.Event()

    def send() -> None:
        """From when the driver has come, because the queue has buffers for 512 frames."""
        with Control(tmp_path / "control") as control:
            while control.ask("stats")["link"]["connections"] < 2 and not over.wait(0.001):
                continue
        while not over.wait(0.001):
            card.wires[0].send(ALIEN + PEER + udp(100, 1)[12:])

    sender = threading.Thread(target=send)
    sender.start()
    try:
        pmd = testpmd(card, more=f"mac={MAC}")
    finally:
        over.set()
        end_of(sender)
    pmd.start("io")
    card.wires[0].send(udp(200, 2))
    assert udp(200, 2) in from_wire(pmd, card.wires[0], 1)
    assert "no memory of EAL's" not in pmd.said + pmd.quit()


def test_a_vf_of_another_pf_is_left_alone(run_card: Any, testpmd: Start) -> None:
    """The card does not tell the PF of it, which the log says once. Of others it still does."""
    card = run_card(*BARE, configuration=QDMA_IP)
    pf = pf_of(testpmd, card, ",trusted=0x6")
    with python_vf(card) as vf, python_vf(card, FIRST + 1) as other, python_vf(card, FIRST + 2) as third:
        for one in (vf, other, third):
            one.bring_up(queues=1)
        vf.link.enable(FIRST, parent=1)
        pf.wait("the sentence", lambda: REFUSED in pf.command("show port info 0") + pf.said)
        time.sleep(0.3)  # of several looks
        card.wires[0].send(frames_for(FIRST)[1])
        assert vf.receive(1) == [frames_for(FIRST)[1]]
        assert receive(other, ALIEN) == 0
        assert receive(third, ALIEN) == -Code.BAD_PARAMETER, "it is the second VF's"
        other.link.reset_function(FIRST + 1)
        pf.wait("the address", lambda: receive(third, ALIEN) == 0)
    pf.command("show port info 0")
    assert pf.said.count(REFUSED) == 1
