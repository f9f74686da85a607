# SPDX-License-Identifier: Apache-2.0
"""Addresses of the host's PFs in the device tree that are none: the log names them, and the PFs have those of the board."""

from __future__ import annotations

from pathlib import Path

import pytest
from meridian_machine import PsHardware, tools
from meridian_machine.driver import modules
from ps_link import PORT, WRITABLE, ps_link, register

pytestmark = pytest.mark.qemu
HOST_ADDRESS = PORT + 0x10  # two registers of each PF


LATE_NVMEM = Path(__file__).with_name("late_nvmem")
IGNORED = "port 0: meridian,host-mac-addresses is ignored: it is not one to four addresses of six bytes"


def address_tree(folder: Path, addresses: str, more: str = "") -> Path:
    """A device tree in the folder, with these bytes for the host's PFs on port 0. more: other properties of the port."""
    tree = folder / "addresses.dts"
    tree.write_text(f"""/include/ "ps.dts"
&meridian {{
    ethernet-ports {{
        #address-cells = <1>;
        #size-cells = <0>;
        ethernet-port@0 {{
            reg = <0>;
            meridian,host-mac-addresses = [{addresses}];
            {more}
        }};
    }};
}};
""")
    return tree


@pytest.mark.parametrize(
    ("addresses", "sentence", "first"),
    [
        (
            "02 4d 52 44 4e 04 02 4d",
            IGNORED,
            None,
        ),
        (
            "02 4d 52 44 4e 04 03 4d 52 44 4e 05",
            "port 0: meridian,host-mac-addresses has no address for PF 1: 03:4d:52:44:4e:05",
            bytes.fromhex("024d52444e04"),
        ),
    ],
    ids=["eight bytes", "a group"],
)
def test_invalid_addresses_of_pfs_in_the_device_tree_are_logged_and_ignored(
    tmp_path: Path, addresses: str, sentence: str, first: bytes | None
) -> None:
    """first: what the first PF has of them, and the others have nothing; none: all have addresses of the board."""
    hardware = PsHardware(kernel=WRITABLE, tree=address_tree(tmp_path, addresses))
    with ps_link(hardware) as link:
        guest = link.guest
        assert guest.log().count(sentence) == 1, guest.log()
        words = [
            (register(guest, HOST_ADDRESS + 8 * pf), register(guest, HOST_ADDRESS + 8 * pf + 4)) for pf in range(4)
        ]
        told = [
            low.to_bytes(4, "little") + high.to_bytes(4, "little")[:2] if high >> 31 else None for low, high in words
        ]
        own = int.from_bytes(guest.address(), "big")
        of_board = [(own + 4 * (1 + pf)).to_bytes(6, "big") for pf in range(4)]
        assert told == ([first, None, None, None] if first else of_board)


def test_a_probe_that_waits_for_the_boards_number_says_once_what_is_wrong(tmp_path: Path) -> None:
    """The driver is probed again and again until there is the memory that has the number."""
    tree = address_tree(tmp_path, "02 4d 52 44 4e 04 02 4d", "local-mac-address = [02 4d 52 44 4e 01];")
    files = modules(tools.SUITES[0], LATE_NVMEM, "ps")
    bind = "echo a0000000.ethernet >/sys/bus/platform/drivers/meridian_ps/bind"
    with ps_link(PsHardware(kernel=WRITABLE, tree=tree), files=files) as link:  # type: ignore[arg-type]
        guest = link.guest
        guest.run("rmmod meridian_ps; insmod /run/twin/late_nvmem.ko; dmesg -C; insmod /run/twin/meridian_ps.ko")
        for _ in range(3):
            assert guest.try_run(bind)[0] != 0, "the memory is not there yet"
        guest.run("echo 1 >/sys/module/late_nvmem/parameters/is_there")
        # Linux may have probed it by itself meanwhile.
        guest.try_run(bind)
        guest.run("ip link set eth0 up")
        guest.wait_link()
        log = guest.run("dmesg")
        assert log.count(IGNORED) == log.count("register map") == 1, log
        assert register(guest, HOST_ADDRESS + 4) >> 31, "the host's PFs have addresses of the board"
