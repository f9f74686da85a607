# SPDX-License-Identifier: Apache-2.0
"""Drives shell_sim, the card's shell as a program, from Python."""

from meridian_twin.ps_port import PsFrame, Timestamp
from meridian_twin.registers import Registers

from .ps import PsPort
from .shell import Shell
from .simulator import Simulator, SimulatorError

__all__ = ["PsFrame", "PsPort", "Registers", "Shell", "Simulator", "SimulatorError", "Timestamp"]
