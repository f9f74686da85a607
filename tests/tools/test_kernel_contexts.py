# SPDX-License-Identifier: Apache-2.0
"""The kernel-doc of each function that other files of a Linux driver call says whether it may sleep, and rightly.

What sleeps is found by the kernel's functions that a function calls, itself or by others of its driver and library. Of
calls by pointers, those that are named here are known.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from documents import ROOT

HOST = ROOT / "host-driver" / "linux"
PS = ROOT / "meta-layer" / "meta-meridian" / "recipes-kernel" / "meridian-ps" / "files"
#: Sources of each driver, and of what it is linked with.
DRIVERS = {HOST: [HOST, ROOT / "host-driver" / "qdma"], PS: [PS]}
FUNCTION = re.compile(r"^([A-Za-z_][\w \*]*?[ \*])(\w+)\(([^;{}]*?)\)\n\{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
#: Of the kernel: what sleeps, or needs a context that may.
SLEEPS = re.compile(
    r"\b(?:"
    r"mutex_lock|msleep|usleep_range|fsleep|rtnl_lock|meridian_lock|wait_event\w*|wait_for_completion\w*|free_irq"
    r"|request_irq|request_threaded_irq|disable_irq|synchronize_\w+|napi_disable|napi_enable|cancel_\w*work_sync"
    r"|flush_work|devl_lock|devlink_health_report"
    r"|dev(?:l|link)_\w*(?:alloc|free|register|unregister|create|destroy)|kvcalloc|vmalloc|(?:un)?register_netdev"
    r"|pci_(?:en|dis)able_sriov|pci_alloc_irq_vectors|pci_free_irq_vectors|pci_get_(?!drvdata)\w+|pci_iomap\w*"
    r"|ioremap\w*|page_pool_create|page_pool_destroy|xdp_rxq_info_reg\w*|xsk_pool_dma_(?:un)?map"
    r"|netif_set_xps_queue|netif_set_real_num\w*|meridian_napi_(?:en|dis)able|netdev_update_features"
    r"|irq_set_affinity\w*|irq_update_affinity_hint|free_netdev|sysfs_create\w*|sysfs_remove\w*|sysfs_get_dirent"
    r"|dma_alloc_coherent|dma_free_coherent|get_random_bytes_wait|devm_\w+|of_get_mac_address\w*"
    r"|of_get_ethdev_address|nvmem_\w+|alloc_etherdev\w*|ptp_clock_(?:un)?register|dev_close|timer_delete_sync"
    r"|del_timer_sync"
    r")\(|\bGFP_KERNEL\b"
)
#: Of the driver: calls by pointers that sleep. What a PF and a VF do differently sleeps but for QUICK.
BY_POINTER = re.compile(r"->lifecycle->(?:attach|detach)\(|\btests\[\w+\]\.run\(")
QUICK = {"link_up", "close_queues"}


@dataclass(frozen=True)
class Function:
    name: str
    file: Path
    body: str
    is_static: bool
    doc: str

    @property
    def calls(self) -> set[str]:
        return set(re.findall(r"\b(\w+)\(", self.body))

    @property
    def sleeps_itself(self) -> bool:
        pointers = BY_POINTER.search(self.body)
        return bool(SLEEPS.search(self.body) or pointers or set(re.findall(r"\bm->ops->(\w+)\(", self.body)) - QUICK)


def functions_of(file: Path, text: str) -> list[Function]:
    found = []
    for match in FUNCTION.finditer(text):
        name, start = match[2], text.rfind("/**\n", 0, match.start())
        before = text[start : match.start()]
        is_its = start >= 0 and before.count("*/") == 1 and re.search(rf"^ \* {name}\(\) - ", before, re.MULTILINE)
        # What a header has is one function, in whatever file it is called.
        is_static = "static" in match[1].split() and file.suffix == ".c"
        found.append(Function(name, file, match[4], is_static, before if is_its else ""))
    return found


def sleepers(functions: list[Function]) -> set[Function]:
    """Those that sleep, and those that call them. A static function is another one in each file."""
    public = {it.name: it for it in functions if not it.is_static}
    of_file = {(it.file, it.name): it for it in functions}
    found = {it for it in functions if it.sleeps_itself}
    while True:
        more = {
            it
            for it in functions
            if it not in found and any((of_file.get((it.file, name)) or public.get(name)) in found for name in it.calls)
        }
        if not more:
            return found
        found |= more


@functools.cache
def driver(root: Path) -> tuple[list[Function], set[Function]]:
    """Its functions that have kernel-doc and that other files may call, and all that sleep."""
    files = sorted(file for folder in DRIVERS[root] for file in folder.rglob("*.[ch]") if "test" not in file.parts)
    functions = [it for file in files for it in functions_of(file, file.read_text())]
    documented = [it for it in functions if it.doc and not it.is_static and root in it.file.parents]
    return documented, sleepers(functions)


@pytest.mark.parametrize("root", DRIVERS, ids=["host", "ps"])
def test_a_function_that_others_call_says_its_context(root: Path) -> None:
    documented, _ = driver(root)
    assert len(documented) > 70
    assert not [f"{it.file.name}: {it.name}()" for it in documented if "\n * Context: " not in it.doc]


@pytest.mark.parametrize("root", DRIVERS, ids=["host", "ps"])
def test_what_sleeps_says_so_and_nothing_else_does(root: Path) -> None:
    documented, sleeping = driver(root)
    wrong = [
        f"{it.file.name}: {it.name}() {'may sleep' if it in sleeping else 'does not sleep'}, its kernel-doc says otherwise"
        for it in documented
        if (it in sleeping) != ("\n * Context: May sleep" in it.doc)
    ]
    assert not wrong, "\n".join(wrong)


def test_calls_are_followed_within_their_files() -> None:
    """Of two static functions of one name, the one that sleeps makes only its own file's callers sleep."""
    one = "static void step(void)\n{\n\tmutex_lock(&lock);\n}\nint first(void)\n{\n\tstep();\n}\n"
    other = "static void step(void)\n{\n\tcount++;\n}\nint second(void)\n{\n\tstep();\n}\nint third(void)\n{\n\tfirst();\n}\n"
    functions = [*functions_of(Path("one.c"), one), *functions_of(Path("other.c"), other)]
    assert sorted(it.name for it in sleepers(functions)) == ["first", "step", "third"]
