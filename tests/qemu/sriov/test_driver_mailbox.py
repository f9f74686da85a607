# SPDX-License-Identifier: Apache-2.0
"""What a PF's Linux driver answers a VF that asks for what it may not have, or in messages that are none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import Link, linked
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE
from meridian_twin.registers import Registers
from vf_mailbox import FMAP, HELLO, QUEUES, ask, build_mailbox_tool, make_vf, refusals, with_queues

pytestmark = pytest.mark.qemu
PARAMETER, UNSUPPORTED, NOT_THERE, COUNT, QUEUE = 1, 7, 9, 15, 16
CONTEXT, CONFIG, ADDRESS, FLAGS, STRIP, RSS, TX_OFFLOAD = "08", "40", "41", "42", "43", "44", "45"
#: Of the card's capabilities, those that a VF has a message for.
OF_A_VF = ("COMPLETION16", "MICROSOFT_HASH", "VLAN_STRIP", "TRANSMIT_OFFLOAD", "HASH_FIELDS")
#: And those of a card with the DMA engine of our own, which takes frames in pieces.
OF_OWN_DMA = ("PIECES", "SEGMENTS")


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    with linked(tools.SUITES[0], {"mailbox_tool": build_mailbox_tool(tmp_path_factory.mktemp("mailbox"))}) as it:
        make_vf(it)
        yield it
        it.guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")


@pytest.fixture(autouse=True)
def the_pf_goes_on(link: Link) -> Iterator[None]:
    yield
    link.guest.ping()
    link.guest.check()


def test_a_vf_that_has_not_said_hello_gets_nothing(link: Link) -> None:
    link.guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")
    make_vf(link)
    assert refusals(link, CONFIG, STRIP + "@8=01", RSS, QUEUES) == [NOT_THERE] * 4


def test_the_version_and_the_cards_capabilities_are_told(link: Link, own_dma: bool) -> None:
    _, (status, data) = ask(link, HELLO, CONFIG)
    assert status == 0
    assert data[15 - 8] == 2
    registers = Registers()
    of_a_vf = sum(registers[f"IDENT_CAPABILITIES_{name}_MASK"] for name in (*OF_A_VF, *(OF_OWN_DMA if own_dma else ())))
    assert int.from_bytes(data[20 - 8 : 24 - 8], "little") == of_a_vf, "what does not concern a VF is not told"


@pytest.mark.parametrize("switch", [STRIP, TX_OFFLOAD])
def test_a_switch_of_offloads_takes_its_states_and_refuses_other_values(link: Link, switch: str, own_dma: bool) -> None:
    """That of descriptors that ask for offloads has a third state where they may ask for segments."""
    states = 3 if own_dma and switch == TX_OFFLOAD else 2
    with_queues(link)
    wanted = [0, 0, 0 if states == 3 else 1, 1, 1, 0]
    assert refusals(link, *(f"{switch}@8={on}" for on in ("00", "01", "02", "03", "ff", "00"))) == wanted


def test_rss_is_for_the_vfs_own_queues(link: Link) -> None:
    assert refusals(link, HELLO, RSS) == [0, PARAMETER], "it has no queues"
    with_queues(link)
    good = [RSS, f"{RSS}@8=01", f"{RSS}@52=11@115=10", f"{RSS}@12={'ff' * 40}"]
    assert refusals(link, *good) == [0] * len(good)
    bad = [f"{RSS}@8=02", f"{RSS}@8=ff", f"{RSS}@52=02", f"{RSS}@52=20", f"{RSS}@115=20", f"{RSS}@115=f0"]
    assert refusals(link, *bad) == [PARAMETER] * len(bad)


def test_queues_of_others_are_refused(link: Link) -> None:
    with_queues(link)
    assert refusals(link, f"{FMAP}@8=00000000@12=02000000", f"{FMAP}@8=00010000@12=09000000") == [COUNT] * 2
    assert refusals(link, CONTEXT, f"{CONTEXT}@6=ffff", "0b@6=0000") == [QUEUE] * 3


def test_queues_that_are_given_up_are_taken(link: Link) -> None:
    with_queues(link)
    assert refusals(link, RSS) == [0]
    fewer = QUEUES.replace("@12=02", "@12=01")
    assert refusals(link, fewer, RSS) == [0, PARAMETER], "what it keeps is to be mapped again"


def test_an_untrusted_vf_is_refused_promiscuous_mode_and_further_addresses(link: Link) -> None:
    with_queues(link)
    messages = [
        f"{FLAGS}@8=04000000",  # promiscuous
        f"{ADDRESS}@8=01005e000001@14=0101",  # a multicast address as its own
        f"{ADDRESS}@8=000000000000@14=0101",
        f"{ADDRESS}@8=02aa00000099@14=0100",  # a second unicast address
        f"{FLAGS}@8=ffffffff",
    ]
    assert refusals(link, *messages) == [PARAMETER] * len(messages)


def test_an_unknown_message_is_refused_as_unsupported(link: Link) -> None:
    unknown = [*(f"{op:02x}" for op in (0x46, 0x47, 0x7F)), "0c", "12"]
    assert refusals(link, HELLO, *unknown) == [0, *[UNSUPPORTED] * len(unknown)]


def test_a_vf_that_is_reset_leaves_its_addresses_to_others(link: Link) -> None:
    """The PF finds the reset by itself; who had the address finds it taken when it goes on."""
    wanted = f"{ADDRESS}@8=02aa00000077@14=0100"
    link.guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")
    make_vf(link, 2)
    link.guest.run("ip link set eth0 vf 0 trust on; ip link set eth0 vf 1 trust on")
    places = [with_queues(link, vf) for vf in (0, 1)]
    assert refusals(link, wanted) == [0]
    assert refusals(link, wanted, vf=1) == [PARAMETER]
    link.guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset && sleep 2")
    assert refusals(link, wanted, vf=1) == [0]
    assert refusals(link, FMAP + places[0], wanted) == [0, PARAMETER]
    link.guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")
    make_vf(link)
