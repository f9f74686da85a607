# SPDX-License-Identifier: Apache-2.0
"""Drives shell_sim, the card's shell as a program, from Python."""

from .ps_port import PsFrame, PsPort
from .registers import Registers
from .shell import Shell
from .simulator import Simulator, SimulatorError

__all__ = ["PsFrame", "PsPort", "Registers", "Shell", "Simulator", "SimulatorError"]
