# SPDX-License-Identifier: Apache-2.0
"""VFs come and go: no warning, and nothing of them is left in the kernel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_leaks import CHECKED, held
from host_network import PF_DEVICE, Network, network

pytestmark = pytest.mark.qemu
VFS = 4  # as many as the default shell has functions for


@pytest.fixture(scope="module")
def net() -> Iterator[Network]:
    with network(vfs=0, hardware=CHECKED) as it:
        yield it


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.long)])
def test_vfs_come_and_go(net: Network, times: int) -> None:
    guest = net.guest
    cycle = f"echo {VFS} >{PF_DEVICE}/sriov_numvfs && ls {PF_DEVICE}/virtfn{VFS - 1}/net && echo 0 >{PF_DEVICE}/sriov_numvfs"
    guest.run(f"for i in 1; do {cycle} || exit 1; done", 240)
    before = held(guest)
    assert sum(before.objects.values()) > 10, "the allocator names the module's objects"
    guest.run(f"for i in $(seq {times}); do {cycle} || exit 1; done", 60 + 60 * times)
    after = held(guest)
    # One object for each VF that ever was would be four for each time.
    few = times * VFS // 4
    assert {name: more for name, more in before.grown(after).items() if more >= few} == {}
    assert after.mappings <= before.mappings
    assert before.free_pages - after.free_pages < max(few, 250), (before, after)
    guest.check()
    net.pf.ping()
