# SPDX-License-Identifier: Apache-2.0
"""The keys of RSS that a PF's Linux driver draws for its VFs are nobody else's, and none of before."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import PF_DEVICE
from meridian_twin.registers import Registers
from vf_mailbox import build_mailbox_tool, make_vf, with_queues

pytestmark = pytest.mark.qemu
PF, FIRST_VF, WORDS = 0, 4, 10
REGISTERS = Registers()


def key_of(link: Link, function: int) -> tuple[int, ...]:
    """As the card has it."""
    bar2 = link.guest.bar(2)
    places = (bar2 + REGISTERS.address("FUNCTION", "HASH_KEY", function, word) for word in range(WORDS))
    script = "; ".join(f"busybox devmem {at:#x}" for at in places)
    return tuple(int(word, 16) for word in link.guest.run(script).split())


def test_no_vf_has_the_rss_key_of_another_function_or_of_an_earlier_start(tmp_path: Path) -> None:
    """Of two VFs, the first of which comes twice, with each of two starts of the PF's driver; and of the PF, whose key is
    the kernel's until the kernel boots again.

    Two random keys have half of their 320 bits in common; what has less than 90 or more than 230 is not random.
    """
    files = {"mailbox_tool": build_mailbox_tool(tmp_path)}
    keys, of_pf = [], []
    with linked(tools.SUITES[0], files, Hardware(kernel="iomem=relaxed")) as link:
        for start in (1, 2):
            if start == 2:
                link.guest.run("rmmod meridian")
                link.guest.load()
            of_pf.append(key_of(link, PF))
            make_vf(link, 2)
            for vf in (0, 1, 0):
                with_queues(link, vf)
                keys.append(key_of(link, FIRST_VF + vf))
            link.guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")
    assert of_pf[0] == of_pf[1]
    keys.append(of_pf[0])
    assert len(keys) == 7
    for one, another in combinations(keys, 2):
        differing = sum((a ^ b).bit_count() for a, b in zip(one, another, strict=True))
        assert 90 < differing < 230, (one, another)
