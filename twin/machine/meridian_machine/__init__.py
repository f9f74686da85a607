# SPDX-License-Identifier: Apache-2.0
"""Machines with the card in them: real Debian kernels in QEMU, the card's process, and what its wires end in."""

from .hardware import Hardware
from .machine import Done, Machine, MachineError, MachineTimeout
from .peer import Peer, PeerError
from .ps_hardware import PsHardware
from .sd_card import SdCard, SdError
from .sd_machine import SdMachine
from .tools import BuildError, Image
from .twin import Setting, Twin, new_run

__all__ = [
    "BuildError",
    "Done",
    "Hardware",
    "Image",
    "Machine",
    "MachineError",
    "MachineTimeout",
    "Peer",
    "PeerError",
    "PsHardware",
    "SdCard",
    "SdError",
    "SdMachine",
    "Setting",
    "Twin",
    "new_run",
]
