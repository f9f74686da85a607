# SPDX-License-Identifier: Apache-2.0
"""What a kernel still holds. Debian has no kernel with kmemleak, KASAN or lockdep (linux-image-*-dbg are symbols), so
its allocator is asked instead: with slub_debug=FZPU it knows each object's place of allocation, and checks red zones and
poison at each use. KFENCE samples beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from meridian_machine import Hardware
from meridian_machine.guest import Guest

#: Of a machine whose leaks are looked for. One processor: between two, emulated QEMU 10.0 loses the end of an interrupt
#: now and then (its APIC keeps a call of the other processor in service), and the machine stands still.
CHECKED = Hardware(cpus=1, kernel="slub_debug=FZPU kfence.sample_interval=100")
PAGE = 4096
#: Pages of less than this come and go without a driver.
QUIET_PAGES = 250
#: What the kernel keeps for later, objects at most: NAPI's buffers of two processors, addresses of an IOMMU.
KEPT = {"skbuff_head_cache": 128, "iommu_iova": 1024}

#: KASAN keeps what was freed for a while, unless a cache is shrunk.
SHRINK = "for cache in /sys/kernel/slab/*/shrink; do echo 1 >$cache; done"
#: The kernel's store of call stacks grows with each new one and never shrinks; it tells how many pools it has.
POOLS, POOL_PAGES = "sed -n 's/^pools: //p' /sys/kernel/debug/stackdepot/stats 2>/dev/null || true", 4
#: Mappings that are gone and wait for a flush of the TLB: with KASAN each of their bytes has an eighth of one that tells so.
UNPURGED = "! grep -qw kasan_report /proc/kallsyms || grep unpurged /proc/vmallocinfo || true"

#: What /proc/meminfo tells apart, each page in one of them at most.
NAMED = (
    "MemFree",
    "Buffers",
    "Cached",
    "SwapCached",
    "AnonPages",
    "Slab",
    "KernelStack",
    "PageTables",
    "VmallocUsed",
    "Percpu",
)


@dataclass(frozen=True)
class Held:
    """objects: of the allocator, made by the module or for it, by cache; memory: pages by kind, once caches are dropped;
    "unnamed" are in use and of none of the kernel's kinds, as a driver's own pages are."""

    objects: dict[str, int]
    mappings: int
    memory: dict[str, int]

    def grown(self, now: Held) -> dict[str, int]:
        """Caches with more objects of the module than before, beyond what may be kept."""
        more = {name: count - self.objects.get(name, 0) - KEPT.get(name, 0) for name, count in now.objects.items()}
        return {name: count for name, count in more.items() if count > 0}


def made_by(module: str, text: str) -> int:
    """Objects of alloc_traces whose way of allocation goes through a module."""
    total, count, ours = 0, 0, False
    for line in text.splitlines():
        first = re.match(r"\s+(\d+) \S+", line) if not line.startswith("        ") else None
        if first:
            total += count if ours else 0
            count, ours = int(first[1]), False
        ours = ours or f"[{module}]" in line
    return total + (count if ours else 0)


def shadow(text: str) -> int:
    """Pages that KASAN keeps of unpurged mappings, from their lines in /proc/vmallocinfo."""
    return sum(int(line.split()[1]) for line in text.splitlines()) // 8 // PAGE


def memory(text: str, checks: dict[str, int]) -> dict[str, int]:
    """Pages of each kind in /proc/meminfo, those of a kernel that checks itself, and those of none."""
    lines = (line.split(":") for line in text.splitlines() if line.endswith("kB"))
    pages = {name: int(value.split()[0]) * 1024 // PAGE for name, value in lines}
    named = {**{name: pages[name] for name in NAMED}, **checks}
    return {**named, "unnamed": pages["MemTotal"] - sum(named.values())}


def held(guest: Guest, module: str = "meridian") -> Held:
    """After what waits to be freed has been freed."""
    guest.run("sync; echo 3 >/proc/sys/vm/drop_caches; sleep 2; echo 3 >/proc/sys/vm/drop_caches; sleep 1")
    guest.run(SHRINK, 120)
    traces = guest.run(f"cd /sys/kernel/debug/slab && grep -l '\\[{module}\\]' */alloc_traces || true").split()
    objects = {}
    # The kernel keeps these for a while when a mapping is gone; mappings are counted by themselves.
    for path in (one for one in traces if not one.startswith("vmap_area/")):
        text = guest.run(f"cat /sys/kernel/debug/slab/{path}", 120)
        objects[path.split("/")[0]] = made_by(module, text)
    mappings = int(guest.run(f"grep -c '\\[{module}\\]' /proc/vmallocinfo || true"))
    checks = {"stacks": POOL_PAGES * int(guest.run(POOLS) or 0), "shadow": shadow(guest.run(UNPURGED, 120))}
    return Held(objects, mappings, memory(guest.run("cat /proc/meminfo"), checks))


def leaked(before: Held, after: Held, times: int) -> dict[str, int]:
    """What there is more of, at least one for each time. Pages count from four for each time, as a ring has them."""
    found = {name: more for name, more in before.grown(after).items() if more >= times}
    if after.mappings > before.mappings:
        found["mappings"] = after.mappings - before.mappings
    if (pages := after.memory["unnamed"] - before.memory["unnamed"]) >= max(4 * times, QUIET_PAGES):
        found["pages"] = pages
    return found
