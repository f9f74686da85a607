# SPDX-License-Identifier: Apache-2.0
"""A PF that does not answer a VF for a while, to all of it or to some: the VF asks again, and both have the same lists."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from driver_machine import changed, linked, vfs_apart
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE
from vf_frames import VfFrames, group

pytestmark = pytest.mark.qemu
#: A PF whose driver lets messages lie (deaf), forgets them (lossy) or does them without a word (mute); the latter two to
#: one operation or all of them. It may forget who has said hello (forgetful).
LIE = (r"(?s)(static void hear_all\(.*?\n\tu32 source, i;\n)", r"\g<1>\n\tif (deaf)\n\t\treturn;\n")
PARAMETERS_C = r"""#include <linux/moduleparam.h>
static bool deaf, forgetful;
static int lossy = -1, mute = -1;
module_param(deaf, bool, 0600);
module_param(forgetful, bool, 0600);
module_param(lossy, int, 0600);
module_param(mute, int, 0600);
"""
FORGET_C = r"""	if (forgetful)
		vf->is_known = false;
	forgetful = false;
	if (lossy == op || lossy == ALL)
		return;
"""
FORGET = (
    r"(?s)(static void answer\(struct.*?\n\tvf->is_heard = false;\n)",
    rf"{PARAMETERS_C}\g<1>{FORGET_C}",
)
BE_MUTE = (r"if \(op == QDMA_OP_VF_BYE\)", "if (op == QDMA_OP_VF_BYE || mute == op || mute == ALL)")
DEFINE_ALL = (r"(#define AHEAD\b.*\n)", r"\g<1>#define ALL 0xff\n")
FILE = "qdma/service/qdma_service.c"
PARAMETERS = "/sys/module/meridian/parameters"
ADDRESS, TX_OFFLOAD, ALL = 0x41, 0x45, 0xFF
SILENT = "the PF does not answer"
#: The VF asks every five seconds; the machine may be slow.
SOON = 60


@pytest.fixture(scope="module")
def vf() -> Iterator[VfFrames]:
    with (
        changed(FILE, *DEFINE_ALL) as first,
        changed(FILE, *FORGET, source=first) as second,
        changed(FILE, *BE_MUTE, source=second) as third,
        changed(FILE, *LIE, source=third) as driver,
        linked(tools.SUITES[0], driver=driver) as link,
        vfs_apart(link.guest),
    ):
        it = VfFrames(link)
        it.up()
        yield it


@pytest.fixture(autouse=True)
def all_is_well_before_and_after(vf: VfFrames) -> Iterator[None]:
    vf.link.guest.run("dmesg -C")
    yield
    answer(vf)
    assert vf.settles(vf.own(), True, SOON)
    vf.link.guest.check()


def misbehave(vf: VfFrames, how: str, value: int) -> None:
    vf.link.guest.run(f"echo {value} >{PARAMETERS}/{how}")


def answer(vf: VfFrames) -> None:
    vf.link.guest.run(f"echo 0 >{PARAMETERS}/deaf; echo -1 >{PARAMETERS}/mute; echo -1 >{PARAMETERS}/lossy")


def settle(vf: VfFrames, to: bytes, wanted: bool) -> None:
    assert vf.settles(to, wanted, SOON), f"frames to {to.hex(':')} {'do not' if wanted else 'still'} come"


@pytest.mark.parametrize(("how", "value", "count"), [("deaf", 1, 3), ("lossy", ALL, 3), ("lossy", ADDRESS, 1)], ids=str)
def test_a_pf_that_was_silent_is_told_when_it_answers_again(vf: VfFrames, how: str, value: int, count: int) -> None:
    """Of the first address it hears late or never; the VF has not even asked for the others. Nothing changes afterwards."""
    groups = [group(100 + number) for number in range(count)]
    # It does not know any more what its PF has refused, and asks for all multicast instead.
    vf.run("ip link set eth1 down")
    vf.up()
    misbehave(vf, how, value)
    vf.change_groups("add", *groups)
    vf.link.guest.until("dmesg", SILENT, SOON)
    time.sleep(5)
    answer(vf)
    for wanted in groups:
        settle(vf, wanted, True)
    vf.change_groups("del", *groups)
    settle(vf, groups[-1], False)


def test_a_group_that_a_silent_pf_added_is_removed_when_the_vf_leaves_it(vf: VfFrames) -> None:
    misbehave(vf, "mute", ADDRESS)
    vf.change_groups("add", group(110))
    vf.link.guest.until("dmesg", SILENT, SOON)
    settle(vf, group(110), True)
    vf.change_groups("del", group(110))
    time.sleep(5)
    answer(vf)
    settle(vf, group(110), False)


def test_an_own_address_that_a_pf_has_taken_without_an_answer_is_given_back(vf: VfFrames) -> None:
    """Linux keeps the former one, as the PF did not say that it has the new one."""
    guest, own, other = vf.link.guest, vf.own(), bytes.fromhex("02aa00000042")
    misbehave(vf, "mute", ADDRESS)
    assert guest.try_run(f"{vf.enter}ip link set eth1 address {other.hex(':')}")[0] != 0
    answer(vf)
    guest.until("ip link show eth0", f"vf 0 .*{own.hex(':')}", SOON)
    assert vf.own() == own
    settle(vf, own, True)
    settle(vf, other, False)


def test_a_vf_keeps_its_address_when_its_pf_does_not_say_whether_it_may(vf: VfFrames) -> None:
    """A PF that has heard hello has its first choice for the VF. One that does not answer has not refused another."""
    guest, own, other = vf.link.guest, vf.own(), bytes.fromhex("02aa00000043")
    vf.run(f"ip link set eth1 address {other.hex(':')}")
    misbehave(vf, "lossy", ADDRESS)
    misbehave(vf, "forgetful", 1)
    guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset", SOON)
    guest.until("dmesg", "the VF waits for its PF", SOON)
    assert vf.own() == other
    answer(vf)
    vf.has_carrier(SOON)
    assert vf.own() == other
    settle(vf, other, True)
    vf.run(f"ip link set eth1 address {own.hex(':')}")


@pytest.mark.parametrize("seconds", [1, 15])
@pytest.mark.parametrize("how", ["deaf", "lossy"])
def test_a_vf_that_lost_its_queues_has_them_again_when_its_pf_answers(vf: VfFrames, how: str, seconds: int) -> None:
    """The VF asks for its queues again and again, and says once that it waits. What Linux sends meanwhile is dropped."""
    guest, peer = vf.link.guest, vf.link.peer
    vf.run("ip address replace 10.44.0.10/24 dev eth1")
    vf.run(f"ip neighbor replace {peer.address} lladdr {peer.mac.hex(':')} dev eth1")
    vf.run(f"sh -c '(timeout 60 ping -q -f -W 1 {peer.address} >/dev/null 2>&1 &)'")
    misbehave(vf, how, 1 if how == "deaf" else ALL)
    guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset", SOON)
    guest.until("dmesg", "the VF waits for its PF", SOON)
    time.sleep(seconds)
    assert guest.run(f"{vf.enter}cat /sys/class/net/eth1/carrier").strip() == "0"
    answer(vf)
    vf.has_carrier(SOON)
    settle(vf, vf.own(), True)
    log = guest.run("dmesg")
    assert log.count(SILENT) == log.count("the VF waits for its PF") == 1, log


def test_a_vf_whose_start_was_heard_in_part_repeats_all_of_it(vf: VfFrames) -> None:
    """Of what a VF says first, the last thing is that its frames ask the card for checksums."""
    guest, peer = vf.link.guest, vf.link.peer
    misbehave(vf, "lossy", TX_OFFLOAD)
    misbehave(vf, "forgetful", 1)
    guest.run(f"echo 1 >{PF_DEVICE}/virtfn0/reset", SOON)
    guest.until("dmesg", SILENT, SOON)
    answer(vf)
    vf.has_carrier(SOON)
    vf.run("ip address replace 10.44.0.10/24 dev eth1")
    start = len(peer.other)
    vf.run(f"bash -c 'for i in 1 2 3; do echo checked >/dev/udp/{peer.address}/9; sleep 0.2; done'")
    sent = [frame for frame in peer.other[start:] if frame[6:12] == vf.own() and b"checked" in frame]
    assert sent and all(is_checked(frame) for frame in sent), [frame.hex() for frame in sent]
    vf.run("ip address del 10.44.0.10/24 dev eth1")


def is_checked(frame: bytes) -> bool:
    """Whether a frame with UDP over IPv4 has the right checksum, which is not left out."""
    length = int.from_bytes(frame[38:40], "big")
    data = frame[26:34] + b"\0\x11" + frame[38:40] + frame[34 : 34 + length] + b"\0" * (length % 2)
    total = sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))
    return frame[40:42] != b"\0\0" and total % 0xFFFF == 0
