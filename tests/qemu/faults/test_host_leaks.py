# SPDX-License-Identifier: Apache-2.0
"""VFs come and go: no warning, and nothing of them is left in the kernel. Drivers that leak show that this is seen."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_leaks import CHECKED, held, leaked
from host_network import Network, network
from meridian_machine import tools
from meridian_machine.guest import PF_DEVICE

pytestmark = pytest.mark.qemu
VFS = 8
SHELL = ("--functions", "12")  # VFs are 4 to 11


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    with network(vfs=0, hardware=CHECKED, shell=SHELL) as it:
        yield it


def come_and_go(net: Network, times: int) -> None:
    """All are made and looked at, the first and the last get queues, and all go."""
    net.guest.run(
        f"""
for i in $(seq {times}); do
  echo {VFS} >{PF_DEVICE}/sriov_numvfs || exit 1
  [ $(ls -d {PF_DEVICE}/virtfn*/net/* | wc -l) = {VFS} ] || exit 2
  for vf in 0 {VFS - 1}; do ip link set $(ls {PF_DEVICE}/virtfn$vf/net) up || exit 3; done
  echo 0 >{PF_DEVICE}/sriov_numvfs || exit 4
done""",
        120 + 60 * times,
    )


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.long)])
def test_vfs_come_and_go(net: Network, times: int) -> None:
    come_and_go(net, 1)
    before = held(net.guest)
    assert sum(before.objects.values()) > 10, "the allocator names the module's objects"
    come_and_go(net, times)
    after = held(net.guest)
    print({kind: after.memory[kind] - pages for kind, pages in before.memory.items()})
    assert leaked(before, after, times) == {}
    net.guest.check()
    net.pf.ping()


def test_traffic_of_vfs_leaves_nothing(net: Network) -> None:
    """As above, with queues that have been at work when their VF goes."""
    rounds = 3

    def work(times: int) -> None:
        for _ in range(times):
            net.make_vfs(VFS)
            for vf in net.vfs:
                vf.ping(2)
            net.end_vfs()

    work(1)
    before = held(net.guest)
    work(rounds)
    assert leaked(before, held(net.guest), rounds) == {}
    net.guest.check()


# File, what it is to lack, what shows then, and after how many times.
PLANTED = {
    "objects": ("functions/meridian_vfs.c", r"\tkfree\(m->vf\);\n", "kmalloc", 3),
    "mappings": ("meridian_main.c", r"\t\tiounmap\(m->shell\)", "mappings", 3),
    "pages": ("rings/meridian_memory.c", r"\t\tdma_free_coherent\(.*\)", "pages", 12),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_driver_that_leaks_is_found(what: str, tmp_path: Path) -> None:
    tree, (name, wrong, shown, times) = tmp_path / "host-driver", PLANTED[what]
    shutil.copytree(tools.ROOT / "host-driver", tree)
    text, changes = re.subn(wrong, "", (tree / "linux" / name).read_text())
    assert changes == 1
    (tree / "linux" / name).write_text(text)
    with network(vfs=0, hardware=CHECKED, shell=SHELL, driver=tree / "linux") as net:
        come_and_go(net, 1)
        before = held(net.guest)
        come_and_go(net, times)
        found = leaked(before, held(net.guest), times)
    print(found)
    assert any(key.startswith(shown) for key in found), found
