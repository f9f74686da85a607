# SPDX-License-Identifier: Apache-2.0
"""Two ports of the driver in a bond, as DPDK's net_bonding makes one of them: its own tests bring ports of their own."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from dpdk_fixtures import library
from sessions import Testpmd, counters

__all__ = ["library"]  # a fixture
MEMBERS = (0, 1)
BOND = 2
#: Modes.
ROUND_ROBIN, ACTIVE_BACKUP, BALANCE, BROADCAST, LACP = 0, 1, 2, 3, 4


def addresses(text: str) -> list[str]:
    return re.findall(r"^MAC address: (\S+)", text, re.MULTILINE)


def packets(text: str, direction: str) -> list[int]:
    """Of each port, of the last time that all were asked for."""
    return [int(count) for count in re.findall(rf"{direction}-packets: (\d+) +{direction}-(?:missed|errors)", text)][
        -3:
    ]


@pytest.mark.parametrize("mode", [ROUND_ROBIN, ACTIVE_BACKUP, BALANCE, BROADCAST, LACP])
def test_a_bond_of_two_ports_forwards_in_each_mode(library: Path, mode: int) -> None:
    testpmd = Testpmd(library, f"meridian{os.getpid()}")
    bond = f"net_bonding0,mode={mode},slave=net_meridian_null0,slave=net_meridian_null1"
    devices = ["net_meridian_null0,fill=1", "net_meridian_null1,fill=1", bond]
    with testpmd.start(devices, "--disable-device-start") as session:
        session.say(f"set portlist {BOND}")
        session.say("set fwd io")
        session.say("port start all")
        session.say("start")
        session.wait_received(1000, BOND)
        session.say("stop")
        session.say("show port info all")
        session.say("show port stats all")
    text = session.output()
    received, sent = packets(text, "RX"), packets(text, "TX")
    forwarded = counters(text, BOND)
    # The ports go on once more for what is left in them.
    assert forwarded["RX-packets"] >= 1000
    assert sum(received[member] for member in MEMBERS) == received[BOND] >= forwarded["RX-packets"]
    assert sum(sent[member] for member in MEMBERS) == sent[BOND]
    assert sorted(member for member in MEMBERS if received[member]) == ([0] if mode == ACTIVE_BACKUP else [0, 1])
    if mode == BROADCAST:
        assert sent[0] == sent[1] > 0
    elif mode == LACP:  # it sends nothing without a partner
        assert sent[BOND] == 0
    else:
        assert sent[BOND] == forwarded["TX-packets"] > 0
        if mode != BALANCE:  # which has one member for a flow
            assert bool(sent[1]) == (mode == ROUND_ROBIN)
    mac = addresses(text)[-3:]
    assert mac[0] == mac[BOND] and (mac[1] == mac[BOND]) == (mode != ACTIVE_BACKUP)
