# SPDX-License-Identifier: Apache-2.0
"""The driver of the PS port, on the simulator's PS memory."""

from __future__ import annotations

import meridian_twin.ps_port

from .shell import Shell


class PsPort(meridian_twin.ps_port.PsPort):
    def __init__(self, shell: Shell, port: int = 0, size_log2: int = 8, seed: int = 1) -> None:
        super().__init__(shell, shell, port, size_log2, seed)
        self.shell = shell
