# SPDX-License-Identifier: Apache-2.0
"""testpmd on a PF of the card process that serves VFs: other processes, a port of its own process, Python's driver."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dpdk_fixtures import library, testpmd
from meridian_twin import Host, Link
from meridian_twin.mailbox import COMMAND, RESPONSE, SEND, Code, Message, Op, place
from meridian_twin.memory import Memory
from meridian_twin.patience import end_of
from meridian_twin.protocol import Role
from meridian_twin.vf import Vf
from pf import ADDRESS, MeridianPf, address_of, served
from sessions import xstats
from test_twin_attach import MAC, MINE, PEER, from_wire, udp
from test_twin_vf import FIRST, frames_for, has_capabilities, started
from testpmd import Testpmd, TestpmdError

pytestmark = pytest.mark.seconds(11)
__all__ = ["library", "testpmd"]  # fixtures
Start = Callable[..., Testpmd]
SERVING = f"mac={MAC},vfs=4,vf_mac=02:aa:bb:cc:dd:04"  # address_of() each
ALIEN = bytes.fromhex("020909090909")
GROUP = bytes.fromhex("01005e000005")
BROADCAST = b"\xff" * 6
LLDP = bytes.fromhex("0180c200000e")


def text_of(address: bytes) -> str:
    return address.hex(":")


def from_first(address: bytes) -> bytes:
    """A frame that the first VF may send, too."""
    return address + address_of(FIRST) + udp(100, 1)[12:]


def pf_of(testpmd: Start, card: Any, more: str = "", serving: str = SERVING, **other: Any) -> Testpmd:
    """Not promiscuous, so what it sends came to its own address."""
    pmd = testpmd(card, more=serving + more, **other)
    assert "No probed ethernet devices" not in pmd.said, pmd.said
    pmd.command("set promisc 0 off")
    pmd.start("io")
    return pmd


def there_and_back(card: Any, pmd: Testpmd, frames: list[bytes]) -> None:
    for frame in frames:
        card.wires[0].send(frame)
    assert from_wire(pmd, card.wires[0], len(frames)) == frames


def counts(pf: Testpmd) -> dict[str, int]:
    return {name: n for name, n in xstats(pf.command("show port xstats 0")).items() if name.startswith("vf_")}


class PlayedVf(Vf):
    """A VF of a card that is not Python's."""

    def __init__(self, card: Any, link: Link, function: int, memory: Memory) -> None:
        super().__init__(link, function, memory)
        self._card = card

    def settle(self) -> None:
        """Until the card has read the descriptors of its buffers, too: the function's link may be a far one."""
        super().settle()
        self._card.rest()


@contextmanager
def python_vf(card: Any, function: int = FIRST) -> Iterator[Vf]:
    """A VF that is played by Python; as it leaves, its function is reset."""
    memory = Memory(1 << 24, function=function)
    link = Link(card.socket, Role.PCIE_FUNCTION, function=function)
    try:
        link.share(memory)
        yield PlayedVf(card, link, function, memory)
    finally:
        link.close()
        memory.close()


def receive(vf: Vf, address: bytes, own: bool = False, add: bool = True) -> int:
    """Asks to receive an address, or no longer; the status of the answer."""
    fields = ((8 + at, "B", byte) for at, byte in enumerate(address))
    vf.link.wait(vf.mailbox.can_send, "room in the mailbox")
    vf.mailbox.send(Message(ADDRESS, 0, 0, 0, place(*fields, (14, "B", add), (15, "B", own))))
    answers: list[Message] = []

    def answered() -> bool:
        answer = vf.mailbox.receive()
        answers.extend([answer] if answer else [])
        return bool(answers)

    vf.link.wait(answered, "an answer")
    assert answers[0].op == ADDRESS | RESPONSE
    return answers[0].status


def test_pf_and_vfs_in_processes_of_their_own_get_their_own_frames(run_card: Any, testpmd: Start) -> None:
    """PF and VFs get their own frames; a VF is killed and comes back, and the others go on."""
    card = run_card()
    pf = pf_of(testpmd, card)
    vfs = [started(testpmd, card, function) for function in (FIRST, FIRST + 1)]
    for function, vf in enumerate(vfs, FIRST):
        there_and_back(card, vf, frames_for(function))
    there_and_back(card, pf, [udp(size, size) for size in (60, 1514)])
    assert [pmd.statistics()["RX-packets"] for pmd in (pf, *vfs)] == [2, 3, 3]
    vfs[0].kill()
    there_and_back(card, vfs[1], frames_for(FIRST + 1))
    again = started(testpmd, card, FIRST)
    there_and_back(card, again, frames_for(FIRST))
    again.quit()
    vfs[1].quit()
    assert counts(pf)["vf_answers_untaken"] == 0
    assert "floods" not in pf.quit()


def test_a_pf_and_its_vf_in_one_process_forward_to_each_other(run_card: Any, testpmd: Start) -> None:
    """A PF and its VF as two ports of one testpmd: what comes to one leaves by the other."""
    card = run_card()
    vf = f"net_meridian_twin1,socket={card.socket},function={FIRST}"
    pmd = pf_of(testpmd, card, vdevs=[vf])
    there_and_back(card, pmd, frames_for(FIRST))
    there_and_back(card, pmd, [MINE + address_of(FIRST) + udp(100, 1)[12:]])
    assert pmd.statistics(0)["TX-packets"] == 3
    assert pmd.statistics(1)["TX-packets"] == 1
    pmd.quit()


def test_a_trusted_vf_alone_gets_promiscuous_mode_and_more_addresses(run_card: Any, testpmd: Start) -> None:
    """Promiscuous, more addresses and one of its own choice are for the VF that is trusted, groups for any."""
    card = run_card()
    pf_of(testpmd, card, ",trusted=0x2")
    plain, trusted = (started(testpmd, card, function) for function in (FIRST, FIRST + 1))
    assert "Operation not permitted - ignore" in plain.start_text
    assert "Promiscuous mode: disabled" in plain.command("show port info 0")
    assert "Promiscuous mode: enabled" in trusted.command("show port info 0")
    card.wires[0].send(ALIEN + PEER + udp(100, 1)[12:])
    trusted.wait("a frame of another", lambda: trusted.statistics()["RX-packets"] == 1)
    trusted.command("set promisc 0 off")
    trusted.command("stop")
    trusted.start("rxonly")
    assert "refuses operation 0x41" in plain.command(f"mac_addr set 0 {text_of(ALIEN)}")
    assert "refuses operation 0x41" in plain.command(f"mac_addr add 0 {text_of(ALIEN)}")
    assert "refuses" not in trusted.command(f"mac_addr add 0 {text_of(ALIEN)}")
    assert "refuses" not in plain.command(f"mcast_addr add 0 {text_of(GROUP)}")
    for address in (ALIEN, GROUP, bytes.fromhex("020909090908"), bytes.fromhex("01005e000006")):
        card.wires[0].send(from_first(address))
    for frame in frames_for(FIRST):
        card.wires[0].send(frame)
    assert from_wire(plain, card.wires[0], 4) == [from_first(GROUP), *frames_for(FIRST)]
    trusted.wait("its other address", lambda: trusted.statistics()["RX-packets"] == 2)


def test_a_vf_is_told_what_its_pf_refuses_and_keeps_what_it_had(run_card: Any, testpmd: Start) -> None:
    """A VF is told why, keeps what it had, and starts again; what it asked for while it was stopped it does without."""
    card = run_card()
    pf_of(testpmd, card)
    vf = started(testpmd, card, FIRST)
    assert "Maximum number of MAC addresses: 33" in vf.command("show port info 0")
    said = [vf.command(f"mcast_addr add 0 01:00:5e:00:01:{at:02x}") for at in range(33)]
    refused = [at for at, text in enumerate(said) if "failed" in text]
    assert refused and refused[-1] == 32 and "diag=-28" in said[32].replace(" ", "")
    vf.command("stop")
    vf.command("port stop 0")
    assert "failed" not in vf.command(f"mac_addr add 0 {text_of(ALIEN)}")
    without = f"starts without {text_of(ALIEN).upper()}, which its PF refuses: Operation not permitted"
    assert without in vf.command("port start 0")
    vf.start("io")
    there_and_back(card, vf, frames_for(FIRST))
    # A later change is not refused for what was refused before.
    assert "failed" not in vf.command("mcast_addr remove 0 01:00:5e:00:01:00")
    other = testpmd(card, function=FIRST + 1, more=f"mac={text_of(ALIEN)}")
    assert "its PF does not give the VF that address: Operation not permitted" in other.start_text
    assert "Invalid port 0" in other.command("show port info 0"), "there is no port"


def test_two_vfs_that_join_many_groups_leave_the_promised_ones_for_a_third(run_card: Any, testpmd: Start) -> None:
    """Of 64 groups a quarter is the PF's, and each of four VFs is promised eight."""
    card = run_card()
    pf = pf_of(testpmd, card)
    with ExitStack() as stack:
        vfs = [stack.enter_context(python_vf(card, FIRST + i)) for i in range(3)]
        for vf in vfs:
            vf.bring_up(queues=1)
        names = [[bytes.fromhex("01005e01") + bytes([i, name]) for name in range(32)] for i in range(3)]
        joined = [sum(receive(vf, name) == 0 for name in mine) for vf, mine in zip(vfs, names, strict=True)]
        assert joined == [64 - 16 - 3 * 8, 8, 8]
        frame = names[2][7] + PEER + udp(100, 1)[12:]
        card.wires[0].send(frame)
        assert vfs[2].receive(1) == [frame]
        assert receive(vfs[0], names[2][7]) == 0, "a group that is there"
        assert "error" not in pf.command(f"mcast_addr add 0 {text_of(GROUP)}").lower()


def test_groups_that_conspiring_vfs_hold_are_evicted_for_a_vf_that_asks(run_card: Any, testpmd: Start) -> None:
    """Two join what the first has made, which leaves it and makes more, until the fourth asks for its eight."""
    card = run_card()
    pf = pf_of(testpmd, card, ",vf_messages=10000")
    with ExitStack() as stack:
        maker, *keepers, last = (stack.enter_context(python_vf(card, FIRST + i)) for i in range(4))
        for vf in (maker, *keepers, last):
            vf.bring_up(queues=1)
        names = [bytes.fromhex("01005e0200") + bytes([name]) for name in range(48)]
        for name in names:
            joined = [receive(vf, name) for vf in (maker, keepers[name[5] // 32])]
            assert [*joined, receive(maker, name, add=False)] == [0] * 3, name.hex()
        mine = [bytes.fromhex("01005e0300") + bytes([name]) for name in range(8)]
        assert [receive(last, name) for name in mine] == [0] * 8
        assert counts(pf)["vf_addresses_evicted"] == 8
        for name in (*mine, names[0], names[-1]):
            card.wires[0].send(name + PEER + udp(100, 1)[12:])
        assert [frame[:6] for frame in last.receive(8)] == mine
        assert [vf.receive(1)[0][:6] for vf in keepers] == [names[0], names[-1]], "they keep the rest"
    assert "loses a multicast group" in pf.said


def test_a_trusted_vf_alone_may_send_link_control_frames(run_card: Any, testpmd: Start) -> None:
    """What a switch takes from its neighbour is sent by the VF that is trusted, and by no other."""
    card = run_card()
    pf_of(testpmd, card, ",trusted=0x2")
    plain, trusted = (started(testpmd, card, function) for function in (FIRST, FIRST + 1))
    trusted.command("set promisc 0 off")
    for function, pmd in enumerate((plain, trusted), FIRST):
        assert "refuses" not in pmd.command(f"mcast_addr add 0 {text_of(LLDP)}")
        pmd.command("stop")
        pmd.start("io")
        lldp = LLDP + address_of(function) + udp(100, 1)[12:]
        other = GROUP[:5] + bytes([function]) + lldp[6:]
        assert "refuses" not in pmd.command(f"mcast_addr add 0 {text_of(other[:6])}")
        pmd.command("clear port xstats 0")
        for frame in (lldp, other):
            card.wires[0].send(frame)
        pmd.wait("both", lambda pmd=pmd: pmd.statistics()["RX-packets"] >= 2)
        returned = from_wire(pmd, card.wires[0], 1 if pmd is plain else 2)
        # Both VFs take the first, so it is copied, and a frame for one function may overtake copies.
        assert sorted(returned) == sorted([other] if pmd is plain else [lldp, other])
        assert xstats(pmd.command("show port xstats 0"))["card_tx_control_frame"] == (1 if pmd is plain else 0)


def used_queues(pmd: Testpmd) -> set[int]:
    return {int(queue) for queue in re.findall(r"RX Port= 0/Queue=\s*(\d+)", pmd.command("show fwd stats all"))}


def test_a_vf_has_rss_and_vlan_stripping_by_its_pf(run_card: Any, testpmd: Start) -> None:
    """RSS and tags of a VF, which its PF writes."""
    card = run_card()
    pf_of(testpmd, card)
    vf = testpmd(card, "--rxq=4", "--txq=4", "--rss-ip", "--nb-cores=1", function=FIRST)
    vf.start("io")
    mine = 2 * address_of(FIRST)
    frames = [mine + udp(100, number, flow=number)[12:] for number in range(64)]
    for frame in frames:
        card.wires[0].send(frame)
    assert sorted(from_wire(vf, card.wires[0], len(frames))) == sorted(frames)
    assert used_queues(vf) == {0, 1, 2, 3}
    for part in range(0, 128, 8):  # testpmd takes words of 128 letters
        vf.command("port config 0 rss reta " + ",".join(f"({part + entry},2)" for entry in range(8)))
    vf.command("clear fwd stats all")
    there_and_back(card, vf, frames)
    assert used_queues(vf) == {2}
    vf.command("vlan set strip on 0")
    card.wires[0].send(mine + bytes.fromhex("81000005") + frames[0][12:])
    assert from_wire(vf, card.wires[0], 1) == [frames[0]]
    vf.command("vlan set strip off 0")
    tagged = mine + bytes.fromhex("81000005") + frames[0][12:]
    there_and_back(card, vf, [tagged])


def test_a_vf_that_knows_only_the_public_drivers_messages_has_frames(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pf = pf_of(testpmd, card)
    with python_vf(card) as vf:
        vf.bring_up(queues=2)
        card.wires[0].send(frames_for(FIRST)[1])
        assert vf.receive(1) == [frames_for(FIRST)[1]]
        vf.send(frames_for(FIRST)[2], queue=1)
        assert from_wire(pf, card.wires[0], 1) == [frames_for(FIRST)[2]]
        vf.stop()
    assert counts(pf)["vf_messages_refused"] == 0


def test_further_addresses_of_a_vf_are_free_after_its_reset(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pf = pf_of(testpmd, card, ",trusted=0x3")
    with python_vf(card, FIRST + 1) as other:
        other.bring_up(queues=1)
        with python_vf(card) as vf:
            vf.bring_up(queues=1)
            assert receive(vf, ALIEN) == 0
            assert receive(other, ALIEN) == -Code.BAD_PARAMETER
            assert receive(other, address_of(FIRST), own=True) == -Code.BAD_PARAMETER
        pf.wait("the address", lambda: receive(other, ALIEN) == 0)
        assert receive(other, address_of(FIRST), own=True) == -Code.BAD_PARAMETER, "that one is kept"
        card.wires[0].send(ALIEN + PEER + udp(100, 1)[12:])
        assert other.receive(1) == [ALIEN + PEER + udp(100, 1)[12:]]
        assert receive(other, ALIEN, add=False) == 0
        for frame in (ALIEN + PEER + udp(100, 1)[12:], frames_for(FIRST + 1)[0]):
            card.wires[0].send(frame)
        assert other.receive(1) == frames_for(FIRST + 1)[:1]
        assert receive(other, ALIEN) == 0

    pf.wait("the address again", lambda: "error" not in pf.command(f"mac_addr add 0 {text_of(ALIEN)}"))
    there_and_back(card, pf, [ALIEN + PEER + udp(100, 1)[12:]])


def test_a_vf_that_sends_messages_of_no_driver_harms_no_other(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pf = pf_of(testpmd, card)
    victim = started(testpmd, card, FIRST + 1)
    random = Random(1)
    with python_vf(card) as vf:

        def say(message: Message) -> None:
            vf.link.wait(vf.mailbox.can_send, "room in the mailbox")
            vf.mailbox.send(message)
            vf.mailbox.receive()

        vf.hello()
        for _ in range(300):
            op = random.choice([*range(21), *range(0x40, 0x46), random.randrange(256)])
            queue = 256 + random.randrange(32)
            say(Message(op, 0, random.randrange(8), 0, queue.to_bytes(2, "little") + random.randbytes(120)))
        say(Message(Op.HELLO))
        for kind in (1, 3):  # a stream, in one direction and the other
            say(Message(Op.CONTEXT_INVALIDATE, 0, 0, 0, place((6, "H", 264), (8, "B", kind))))
        there_and_back(card, victim, frames_for(FIRST + 1))
    assert counts(pf)["vf_messages_refused"] > 100


def test_a_vf_that_floods_its_pf_is_slowed_and_others_are_served(run_card: Any, testpmd: Start) -> None:
    """The VF is slowed, counted and told; another comes up and has its frames meanwhile."""
    card = run_card()
    pf = pf_of(testpmd, card, ",vf_messages=1")  # the fewest, as a busy machine may take fewer than 5 a second
    over = threading.Event()
    with python_vf(card) as vf:

        def flood() -> None:
            while not over.is_set():
                vf.link.wait(vf.mailbox.can_send, "room in the mailbox")
                vf.mailbox.write(COMMAND, SEND)

        thread = threading.Thread(target=flood)
        thread.start()
        try:
            pf.wait("the flood", lambda: counts(pf)["vf_messages_slowed"] >= 5)
            there_and_back(card, started(testpmd, card, FIRST + 1), frames_for(FIRST + 1))
        finally:
            over.set()
            end_of(thread)
    assert f"VF 0 (function {FIRST}) floods its PF with messages" in pf.said


def test_a_vf_that_does_not_take_its_answers_holds_up_no_other(run_card: Any, testpmd: Start) -> None:
    card = run_card()
    pf = pf_of(testpmd, card)
    with python_vf(card) as deaf, python_vf(card, FIRST + 1) as other:
        for op in (Op.HELLO, Op.CSR):
            deaf.link.wait(deaf.mailbox.can_send, "room in the mailbox")
            deaf.mailbox.send(Message(op))
        other.bring_up(queues=1)
        pf.wait("the loss of an answer", lambda: counts(pf)["vf_answers_untaken"] == 1)
    assert f"function {FIRST}) does not take its answers" in pf.said


def test_another_pf_takes_over(run_card: Any, testpmd: Start) -> None:
    """A PF is killed: its VF is told, and begins anew with the next PF, whatever the first has left in the card."""
    card = run_card()
    first = pf_of(testpmd, card)
    vf = started(testpmd, card, FIRST)
    there_and_back(card, vf, frames_for(FIRST))
    first.kill()
    second = pf_of(testpmd, card)
    vf.wait("the loss", lambda: "has lost its queues" in vf.command("show port stats 0") + vf.said)
    vf.quit()
    there_and_back(card, started(testpmd, card, FIRST), frames_for(FIRST))
    second.command("show port info 0")
    assert "gets no frames" not in second.said


def test_a_pf_of_older_messages_takes_over(run_card: Any, testpmd: Start) -> None:
    """After a reset of the port, the VF has no more than that PF knows, and its frames."""
    card = run_card()
    pf = pf_of(testpmd, card)
    vf = started(testpmd, card, FIRST)
    there_and_back(card, vf, frames_for(FIRST))
    assert has_capabilities(vf)
    pf.quit()
    vf.wait("the loss", lambda: "has lost its queues" in vf.command("show port stats 0") + vf.said)
    with Host.connect(card.socket) as host:
        host.bring_up(queues=2)
        MeridianPf(host, range(64, 128))
        with served(host):
            vf.command("stop")
            # This PF knows nothing of the queues; the port is stopped, as testpmd hears when it tries again.
            for command in ("port stop 0", "port stop 0", "port reset 0"):
                vf.command(command, 60)
            assert not has_capabilities(vf)
            vf.start("io")
            there_and_back(card, vf, frames_for(FIRST))
            vf.quit()


def test_a_null_card_has_no_vfs(library: Path) -> None:
    with pytest.raises(TestpmdError, match="the function has no VFs"):
        Testpmd(library, ["net_meridian_null0,vfs=1"], memory=64)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("vfs=33", "vfs=33: a PF serves 0 to 32 VFs"),
        ("vfs=1,function=4", "vfs=1: a VF has no VFs"),
        ("push=257", "push=257: give the longest frame that is to be pushed, 0 to 256 bytes"),
        ("vfs=1,vf_messages=0", "vf_messages=0: a VF that floods is heard 1 to 100000 times a second"),
        ("vfs=1,trusted=yes", "trusted=yes: give a bitmap of VFs"),
        ("vfs=1,vf_mac=01:00:00:00:00:01", "vf_mac=01:00:00:00:00:01: that is no unicast address"),
        ("vfs=2,vf_mac=02:00:00:00:00:01,mac=02:00:00:00:00:02", "02:00:00:00:00:02 cannot be VF 1's"),
        ("vfs=2,vf_mac=02:ff:ff:ff:ff:ff", "03:00:00:00:00:00 cannot be VF 1's"),
    ],
)
def test_a_wrong_argument_of_a_pf_is_refused_in_a_sentence(
    run_card: Any, library: Path, arguments: str, sentence: str
) -> None:
    card = run_card()
    with pytest.raises(TestpmdError, match=re.escape(sentence)):
        Testpmd(library, [f"net_meridian_twin0,socket={card.socket},{arguments}"], memory=64)
