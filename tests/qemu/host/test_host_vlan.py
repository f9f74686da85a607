# SPDX-License-Identifier: Apache-2.0
"""VLAN interfaces on the PF and on a VF, tagged frames both ways on the wire."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver_machine import running, vfs_apart
from host_network import Function
from machine_report import run_folder
from meridian_machine import Setting, Twin
from meridian_machine.guest import Guest
from meridian_twin.wire import Wire
from peer import Peer

pytestmark = pytest.mark.qemu
TAG = 0x8100
NEAR = {"pf": "10.44.0.2", "vf": "10.44.0.10"}
VLAN_NEAR, VLAN_FAR = "10.45.0.2", "10.45.0.1"
VLANS = (5, 4094)


def tagged(frame: bytes, vlan: int) -> bytes:
    return frame[:12] + TAG.to_bytes(2, "big") + vlan.to_bytes(2, "big") + frame[12:]


class VlanPeer(Peer):
    """Answers in one VLAN what is asked in it, and nothing else that has a tag."""

    vlan = 0

    def _answer(self, frame: bytes) -> bytes | None:
        if int.from_bytes(frame[12:14], "big") != TAG:
            return None
        if int.from_bytes(frame[14:16], "big") & 0xFFF != self.vlan:
            return None
        answer = super()._answer(frame[:12] + frame[16:])
        return tagged(answer, self.vlan) if answer else None

    def ask(self, to: bytes, address: str) -> bytes:
        """An echo request of ours in the VLAN; what the answer begins with."""
        self.wire.send(tagged(self.request(to, address), self.vlan))
        return tagged((self.mac + to), self.vlan)[:16]


@pytest.fixture(scope="module")
def linked() -> Iterator[tuple[Guest, VlanPeer, dict[str, Function]]]:
    with run_folder() as folder:
        path = folder / "wire"
        with (
            Twin(Setting(wires=[f"0=socket:path={path}"]), folder) as twin,
            Wire(path) as wire,
            VlanPeer(wire, VLAN_FAR) as peer,
            running(twin) as guest,
        ):
            guest.run("modprobe 8021q")
            functions = {
                "pf": Function(guest, "eth0", NEAR["pf"]),
                "vf": Function(guest, "eth1", NEAR["vf"], "vf0"),
            }
            with vfs_apart(guest):
                functions["vf"].up()
                yield guest, peer, functions


@pytest.mark.parametrize("vlan", VLANS)
@pytest.mark.parametrize("which", ["pf", "vf"])
def test_frames_of_a_vlan_pass_both_ways_and_those_of_another_do_not(
    linked: tuple[Guest, VlanPeer, dict[str, Function]], which: str, vlan: int
) -> None:
    guest, peer, functions = linked
    function = functions[which]
    peer.vlan = vlan
    name = f"near{vlan}"
    function.run(f"ip link add link {function.interface} name {name} type vlan id {vlan}")
    try:
        function.run(f"ip address add {VLAN_NEAR}/24 dev {name}")
        function.run(f"ip link set {name} up")
        for size in (56, 1472):
            function.ping(2, size, VLAN_FAR)
        assert int(function.run(f"cat /sys/class/net/{name}/statistics/rx_packets")) >= 4
        mac = bytes.fromhex(function.run(f"cat /sys/class/net/{name}/address").strip().replace(":", ""))
        assert peer.answered(peer.ask(mac, VLAN_NEAR)), "the far end's own question"
        # What is of another VLAN is not seen in this one.
        peer.vlan = vlan - 1
        assert guest.try_run(f"{function.enter}ping -c 1 -W 1 {VLAN_FAR}")[0] != 0
    finally:
        function.run(f"ip link del {name}")
