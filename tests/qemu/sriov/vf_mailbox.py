# SPDX-License-Identifier: Apache-2.0
"""VFs without a driver, told message by message what they ask their PF (mailbox_tool.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from driver_machine import Link
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE

HELLO, FMAP, QUEUES = "01", "02", "04@8=ffffffff@12=02000000"


def build_mailbox_tool(folder: Path) -> Path:
    """The program, static, in that folder; it is for the machine as `mailbox_tool`."""
    program, library = folder / "mailbox_tool", tools.ROOT / "host-driver" / "qdma"
    sources = [Path(__file__).with_name("mailbox_tool.c"), *sorted(library.rglob("*.c"))]
    command = ["gcc", "-static", "-Wall", "-Werror", f"-I{library}", "-o", program, *sources]
    subprocess.run(command, check=True, timeout=60)
    return program


def release_vf(link: Link, vf: int = 0) -> None:
    """From its driver; it answers accesses and may access memory."""
    name = f"$(readlink {PF_DEVICE}/virtfn{vf})"
    link.guest.run(f"basename {name} >/sys/bus/pci/drivers/meridian/unbind")
    link.guest.run(f"echo 1 >{PF_DEVICE}/virtfn{vf}/enable; setpci -s $(basename {name}) COMMAND=6:6")


def make_vf(link: Link, count: int = 1) -> None:
    """Some without a driver."""
    link.guest.run(f"echo {count} >{PF_DEVICE}/sriov_numvfs")
    for vf in range(count):
        release_vf(link, vf)


def ask(link: Link, *messages: str, vf: int = 0, seconds: float = 60) -> list[tuple[int, bytes]]:
    """Status of each answer, 0 or why it is refused, and its bytes from the eighth on."""
    script = f"/run/twin/mailbox_tool {PF_DEVICE}/virtfn{vf}/resource0 {' '.join(messages)}"
    pairs = [line.split() for line in link.guest.run(script, seconds).splitlines()]
    return [(-int(status), bytes.fromhex(data)) for status, data in pairs]


def refusals(link: Link, *messages: str, vf: int = 0) -> list[int]:
    return [status for status, _ in ask(link, *messages, vf=vf)]


def with_queues(link: Link, vf: int = 0) -> str:
    """The VF has two queues; the range as messages have it."""
    (_, _), (status, data) = ask(link, HELLO, QUEUES, vf=vf)
    assert status == 0
    assert int.from_bytes(data[4:8], "little") == 2
    place = f"@8={data[:4].hex()}@12={data[4:8].hex()}"
    assert refusals(link, FMAP + place, vf=vf) == [0]
    return place
