# SPDX-License-Identifier: Apache-2.0
"""Programs of libmeridian on a PF behind an IOMMU, run by a user who is not root."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_machine import Link, linked
from meridian_machine import Hardware, tools
from meridian_machine.guest import MODULE
from meridian_machine.testpmd import give_to, prepare_vfio, vf_name

pytestmark = [pytest.mark.qemu, pytest.mark.long]
ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "host-driver/library"
QDMA = ROOT / "host-driver/qdma"
PROGRAMS = ("throughput", "latency", "random_access")
SHELL = (
    *("--host-box", str(ROOT / "examples/boxes/host_memory.sv")),
    *("--memory", "true", "--extended-tags", "true"),
)
PF, VF = "0000:01:00.0", "0000:01:00.4"
COUNT = 50
#: Bytes to the card's memory and back, and those that the module writes; a child, while more than half of all huge pages
#: are the card's.
SCRIPT = """
import os, random
from meridian_library import Card
chance = random.Random(1)
with Card("@PF@") as card:
    out, back, small = card.allocate(1 << 18), card.allocate(3 << 20), card.allocate(100)
    assert (out.huge, back.huge, small.huge) == (False, True, False)
    model = bytearray(1 << 18)
    card.to_card(0, out)
    for turn in range(200):
        size = chance.randrange(1, 20000)
        at, offset = chance.randrange((1 << 18) - size), chance.randrange((1 << 18) - size)
        out.view[offset : offset + size] = model[at : at + size] = chance.randbytes(size)
        card.to_card(at, out, offset, size)
    card.from_card(0, back, 12345, 1 << 18)
    assert back.view[12345 : 12345 + (1 << 18)] == model
    assert not any(back.view[:12345]) and not any(back.view[12345 + (1 << 18) :])
    queue = card.lend()
    for offset, value in ((4, queue), (8, 64), (12, 8), (16, back.address), (20, back.address >> 32), (24, (1 << 20) - 1)):
        card.box_write(offset, value & 0xFFFFFFFF)
    card.box_write(0, 2)
    while card.box_read(0) >> 31:
        pass
    assert card.box_read(0x64) == 0 and any(back.view[:64])
    large = card.allocate(120 << 21)
    assert large.huge
    child = os.fork()
    if not child:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    card.from_card(0, large, 99, 1 << 18)
    assert large.view[99 : 99 + (1 << 18)] == model
print("all as written")
"""
LENDER = """
from meridian_library import Card
with Card("@VF@") as card:
    memory = card.allocate(1 << 20)
    queues = {card.lend() for _ in range(8)}
    card.take_back(queues.pop())
    queues.add(card.lend())
    print(len(queues), "queues")
"""
VARIABLES = "MERIDIAN_LIBRARY=/run/twin/libmeridian.so.1 PYTHONDONTWRITEBYTECODE=1"
AS_NOBODY = f"ulimit -l unlimited; su -s /bin/sh nobody -c '{VARIABLES} python3 /run/twin/{{script}} 2>&1'"


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory, own_dma: bool) -> Iterator[Link]:
    if not own_dma:
        pytest.skip("the library needs the DMA engine of our own")
    folder = tmp_path_factory.mktemp("library")
    shared = [
        str(QDMA / name)
        for name in (
            "qdma_context.c",
            "qdma_device.c",
            "qdma_queue.c",
            "mailbox/qdma_mailbox.c",
            "mailbox/qdma_message.c",
        )
    ]
    sources = [str(file) for file in sorted(LIBRARY.glob("*.c"))] + shared
    for name in PROGRAMS:
        command = ["cc", "-static", "-O2", "-std=gnu11", f"-I{LIBRARY}", "-o", str(folder / name)]
        command += [str(LIBRARY / f"examples/{name}.c"), str(LIBRARY / "examples/common.c"), *sources]
        subprocess.run(command, check=True, timeout=120)
    (folder / "script.py").write_text(SCRIPT.replace("@PF@", PF))
    (folder / "lender.py").write_text(LENDER.replace("@VF@", VF))
    command = ["make", "-s", "-C", str(LIBRARY), f"OUTPUT={folder / 'made'}", "library"]
    subprocess.run(command, check=True, timeout=120)
    files = {name: folder / name for name in (*PROGRAMS, "script.py", "lender.py")}
    files["libmeridian.so.1"] = folder / "made/libmeridian.so.1"
    files["meridian_library.py"] = LIBRARY / "python/meridian_library/__init__.py"
    options = ("--pcie-extended-tags",)
    with linked(tools.SUITES[0], files, Hardware(iommu=True), shell=SHELL, card_options=options) as it:
        it.guest.run("chmod +x /run/twin/*; rmmod meridian", 60)
        prepare_vfio(it.guest)
        give_to(it.guest, PF, "vfio-pci")
        yield it
        it.guest.check()


def as_nobody(link: Link, command: str, limit: str = "unlimited") -> tuple[int, str]:
    return link.guest.try_run(f"ulimit -l {limit}; su -s /bin/sh nobody -c '/run/twin/{command} 2>&1'", 300)


def own_group(link: Link) -> None:
    group = link.guest.run(f"basename $(readlink /sys/bus/pci/devices/{PF}/iommu_group)").strip()
    link.guest.run(f"chown nobody /dev/vfio/{group}")


def rows(text: str) -> list[list[str]]:
    words = (line.split() for line in text.splitlines())
    return [row for row in words if row and (row[0].isdigit() or row[0] in ("h2c", "c2h"))]


def test_a_card_that_the_user_cannot_open_is_an_error_with_the_reason(link: Link) -> None:
    status, text = as_nobody(link, f"throughput --card {PF}")
    assert status == 1 and "Permission denied; make the file the user" in text, text
    own_group(link)
    status, text = as_nobody(link, f"throughput --card {PF}", "64")
    assert status == 1 and "raise the limit of locked memory (ulimit -l)" in text, text
    status, text = as_nobody(link, "latency --card 0000:00:1f.0")
    assert status == 1 and "vfio-pci does not have it" in text, text
    status, text = as_nobody(link, "latency --card 0000:77:00.0")
    assert status == 1 and "there is no such function" in text, text


def test_random_transfers_move_the_bytes_of_a_memory(link: Link) -> None:
    own_group(link)
    status, text = link.guest.try_run(AS_NOBODY.format(script="script.py"), 300)
    assert (status, text) == (0, "all as written\n"), text


def test_a_vf_has_queues_of_its_pf(link: Link) -> None:
    """Our Linux driver has the PF. The module's registers are the PF's, so nothing is written here."""
    device = f"/sys/bus/pci/devices/{PF}"
    link.guest.run(f"insmod {MODULE}")
    give_to(link.guest, PF, "meridian")
    link.guest.run(f"echo 0 >{device}/sriov_drivers_autoprobe; echo 1 >{device}/sriov_numvfs", 60)
    assert vf_name(link.guest, 0) == VF
    give_to(link.guest, VF, "vfio-pci")
    group = link.guest.run(f"basename $(readlink /sys/bus/pci/devices/{VF}/iommu_group)").strip()
    link.guest.run(f"chown nobody /dev/vfio/{group}")
    for _ in range(2):
        status, text = link.guest.try_run(AS_NOBODY.format(script="lender.py"), 300)
        assert (status, text) == (0, "8 queues\n"), text
    link.guest.run(f"echo 0 >{device}/sriov_numvfs", 60)
    give_to(link.guest, PF, "vfio-pci")
    link.guest.run("rmmod meridian", 60)


@pytest.mark.parametrize("way", ["module", "memory"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_measures_by_the_module_and_by_the_memory(link: Link, name: str, way: str) -> None:
    own_group(link)
    status, text = as_nobody(link, f"{name} --card {PF} --by {way} --count {COUNT}")
    assert status == 0, text
    found = rows(text)
    assert len(found) >= 2, text
    for row in found:
        numbers = [float(word) for word in row if word[0].isdigit()]
        assert len(numbers) >= 3 and max(numbers[1:]) > 0, text


def test_pages_are_small_if_there_are_no_huge_ones(link: Link) -> None:
    own_group(link)
    link.guest.run("echo 0 >/proc/sys/vm/nr_hugepages")
    status, text = as_nobody(link, f"latency --card {PF} --by memory --count 3")
    assert status == 0 and "memory is in pages of 4 KiB" in text, text
    link.guest.run("echo 64 >/proc/sys/vm/nr_hugepages")
    assert "4 KiB" not in as_nobody(link, f"latency --card {PF} --by memory --count 3")[1]


def test_two_programs_cannot_have_a_card_at_once(link: Link) -> None:
    own_group(link)
    command = f"/run/twin/throughput --card {PF} --count 100000 >/dev/null 2>&1"
    link.guest.run(f"ulimit -l unlimited; su -s /bin/sh nobody -c '{command}' & sleep 3")
    status, text = as_nobody(link, f"latency --card {PF}")
    assert status == 1 and "another program has it" in text, text
    link.guest.run("pkill throughput; sleep 1")
    assert as_nobody(link, f"latency --card {PF} --count 3")[0] == 0, "a killed program leaves a card that works"
