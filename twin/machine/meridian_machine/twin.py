# SPDX-License-Identifier: Apache-2.0
"""The whole twin: card, what its wires end in, host machine and PS; kept together in one run directory."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from meridian_twin import CardProcess
from meridian_twin.process import CardError

from . import computer, peer, tools
from .driver import PS_SOURCE, SOURCE
from .hardware import Hardware
from .machine import Machine
from .processes import guarded
from .ps_hardware import PsHardware

RUNS = tools.ROOT / "build" / "twin"
#: Whose DMA engine a card may have: our own, or the QDMA IP, of which the card has a model.
DMA = ("meridian", "qdma")
#: Of a shell whose options say nothing else: functions, the first of which are its PFs.
FUNCTIONS, PFS = 8, 4


@dataclass(frozen=True)
class Setting:
    """What a user may choose. wires: PORT=SPEC as the card takes them, in place of an interface to talk to,
    which is a TAP device, or one end of a veth pair. cables: (PORT, PORT), in place of the wires of both.

    machine: what the host machine boots, of Image.build(). hardware: of the host machine; ps: of the PS; none: there
    is no such machine. shell: options of its generator, as --functions 12. dma: one of DMA, by default what the variable
    MERIDIAN_DMA says, or the first. driver and ps_driver: their sources; none is loaded without one.
    """

    suite: str = tools.SUITES[0]
    machine: str = "host"
    hardware: Hardware | None = field(default_factory=Hardware)
    ps: PsHardware | None = None
    ports: int = 1
    shell: Sequence[str] = ()
    dma: str = field(default_factory=lambda: os.environ.get("MERIDIAN_DMA", DMA[0]))
    wires: Sequence[str] = ()
    cables: Sequence[tuple[int, int]] = ()
    card_options: Sequence[str] = ()
    dhcp: bool = False
    veth: bool = False
    driver: Path | None = SOURCE
    ps_driver: Path | None = PS_SOURCE
    pcap: bool = False
    wave: bool = False

    def card_build(self) -> list[str]:
        """Arguments of scripts/build-card for this card."""
        wave = ["--trace"] if self.wave else []
        ports = ["--ports", str(self.ports)] if self.ports != 1 else []
        dma = ["--dma", self.dma, *self._vfs()] if self.dma != "qdma" else []
        return [*wave, *ports, *self.shell, *dma]

    def _vfs(self) -> list[str]:
        """Our own engine is made with the VFs of each PF: all are those of a single PF, and of several each has as many."""
        found = re.search(r"\bpfs=([2-4])\b", self.hardware.device) if self.hardware else None
        if not found or "--vfs" in self.shell:
            return []
        options = dict(itertools.pairwise(self.shell))
        pfs, vfs = int(found[1]), int(options.get("--functions", FUNCTIONS)) - PFS
        each = [vfs // pfs + (number < vfs % pfs) for number in range(pfs)]
        return ["--vfs", ",".join(map(str, [*each, *[0] * (PFS - pfs)]))]


def new_run(folder: Path | None = None) -> Path:
    """An empty folder: the one that is asked for, or build/twin/run-DATE."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    RUNS.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=time.strftime("run-%Y%m%d-%H%M%S-"), dir=RUNS))


class Twin:
    """The card with its wires, and what the machines with it are made of. Use it as a context manager.

    Builds what is not built. Raises BuildError, CardError, PeerError.
    """

    host: computer.Computer
    ps: computer.Computer

    def __init__(self, setting: Setting, folder: Path) -> None:
        self.setting, self.folder = setting, folder
        self._stack = contextlib.ExitStack()
        card = tools.built("build-card", *setting.card_build(), minutes=30)
        if setting.hardware:
            self.host = computer.host(setting.suite, setting.hardware, setting.driver, setting.dhcp, setting.machine)
        if setting.ps:
            self.ps = computer.ps(setting.suite, setting.ps, setting.ps_driver)
        try:
            self._start(card / "meridian_card")
        except BaseException:
            self.close()
            raise

    def _start(self, program: Path) -> None:
        setting, folder = self.setting, self.folder
        given = {int(wire.partition("=")[0]) for wire in setting.wires}
        if given and max(given) >= setting.ports:
            raise CardError(f"--wire names port {max(given)}, the last port is {setting.ports - 1}: add --ports")
        given |= {port for cable in setting.cables for port in cable}
        ours = [port for port in range(setting.ports) if port not in given]
        wires = [peer.wire(port, setting.veth) for port in ours]
        options = [word for wire in (*wires, *setting.wires) for word in ("--wire", wire)]
        options += [word for one, other in setting.cables for word in ("--cable", f"0.{one}=0.{other}")]
        options += ["--log", str(folder / "card.jsonl")]
        if setting.dma == "qdma":
            options += ["--pcie-reset", "link"]  # as the IP has it; card_options may say all
        if setting.pcap:
            options += ["--capture", str(folder / "card.pcapng")]
        if setting.wave:
            options += ["--trace", str(folder / "card.fst")]
        before = peer.unshared(ours if setting.veth else ())
        self.card = self._stack.enter_context(
            CardProcess(program, *options, *setting.card_options, through=[*before, *guarded([])])
        )
        self.peer = peer.Peer(self.card.pid)
        self._stack.callback(self.peer.close)
        self.peer.set_up(ours)
        for port in ours if setting.dhcp else ():
            self.peer.serve_dhcp(port, folder)
        (folder / "card.pid").write_text(f"{self.card.pid}\n")
        self._stack.callback((folder / "card.pid").unlink)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def close(self) -> None:
        self._stack.close()

    def machine(self, watched: bool = True) -> Machine:
        """The host machine with the card, ready for scripts, its driver loaded. Raises MachineError.

        watched: a card that ends raises CardError in whoever waits for the machine.
        """
        return self.host.boot(self.folder, self.card.socket, self.card.check if watched else lambda: None)

    def ps_machine(self, watched: bool = True) -> Machine:
        """The same of the card's PS. What is left of it is in the run directory's ps/."""
        folder = self.folder / "ps"
        folder.mkdir(exist_ok=True)
        return self.ps.boot(folder, self.card.socket, self.card.check if watched else lambda: None)


def discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
