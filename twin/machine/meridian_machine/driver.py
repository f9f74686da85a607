# SPDX-License-Identifier: Apache-2.0
"""The drivers of this tree, of a PF and of the PS, built for the machine's kernel, and its network on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import peer
from .initrd import Content
from .tools import ROOT, built

SOURCE = ROOT / "host-driver" / "linux"
PS_SOURCE = ROOT / "meta-layer" / "meta-meridian" / "recipes-kernel" / "meridian-ps" / "files"
# Where the system has the card's interfaces.
PCI = "/sys/bus/pci/devices/0000:01:00.0"
PLATFORM = "/sys/bus/platform/devices/a0000000.ethernet"
HOST, PS = 2, 3  # in the networks of the wires


def modules(suite: str, source: Path, machine: str = "host") -> dict[str, Content]:
    """The driver's files for a machine; none if the tree has no driver.

    The drivers of the project use sources beside their own folders, another's may use all that is beside its folder.
    """
    if source in (SOURCE, PS_SOURCE) and not source.is_dir():
        return {}
    above = ROOT if source == PS_SOURCE else source.parent
    uses = {SOURCE: ("include", "qdma"), PS_SOURCE: ("host-driver/include",)}.get(source, ())
    options = ["--suite", suite, "--machine", machine, "--with", str(above)]
    options += [word for use in uses for word in ("--use", use)]
    folder = built("build/build-module", *options, str(source), minutes=10)
    return {path.name: path for path in sorted(folder.glob("*.ko"))}


def setup(files: Mapping[str, Content], dhcp: bool = False, place: str = PCI, number: int = HOST) -> str:
    """A script that loads the driver and gives its first interface an address on the wire; nothing without a driver.

    place: the card's device; number: of the machine in the wire's network. Fails with a sentence if a module is refused
    or no interface of the card appears within ten seconds. Debian's queueing discipline (fq_codel) drops frames that
    wait for longer than 100 ms, as they do for a simulated card on a busy machine, so the interfaces have Linux's own.
    """
    if not files:
        return ""
    names = " ".join(f"/run/twin/{name}" for name in files)
    configure = (
        'dhclient -1 -q "$interface"'
        if dhcp
        else f'ip address add {peer.address(0, number)}/{peer.PREFIX} dev "$interface"'
    )
    return f"""
fail() {{ echo "twin: $*" >&2; dmesg | tail -n 20 >&2; exit 1; }}
sysctl -q -w net.core.default_qdisc=pfifo_fast
for module in {names}; do
  for needed in $(modinfo -F depends "$module" | tr , ' '); do
    modprobe "$needed" || fail "there is no module $needed"
  done
  insmod "$module" || fail "the kernel refuses $(basename "$module")"
done
interface=""
for try in $(seq 100); do
  interface=$(ls {place}/net 2>/dev/null | head -n 1)
  [ -z "$interface" ] || break
  sleep 0.1
done
[ -n "$interface" ] || fail "the driver is loaded and makes no interface"
ip link set "$interface" up || fail "the interface cannot be set up"
{configure} || fail "the interface gets no address"
"""
