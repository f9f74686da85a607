# SPDX-License-Identifier: Apache-2.0
"""QEMU told what a machine's hardware does by itself: errors on PCIe, a slot that is emptied, waking up."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meridian_twin.closing import Closing
from meridian_twin.patience import deadline_in


def options(path: Path) -> Sequence[str]:
    """Of a machine that listens there."""
    return ("-qmp", f"unix:{path},server=on,wait=off")


#: With ACPI's hot plug, QEMU's root port never says that its link is active, for which Linux waits after a reset.
NATIVE_HOT_PLUG = ("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off")


class Monitor(Closing):
    """Commands by QMP. Raises AssertionError for one that is refused."""

    def __init__(self, path: Path, seconds: float = 30) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(seconds)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw", encoding="utf-8")
        self._read()  # the greeting
        self.do("qmp_capabilities")

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def _read(self) -> dict[str, Any]:
        line = self._lines.readline()
        assert line, "QEMU has closed its monitor"
        return json.loads(line)

    def do(self, command: str, **arguments: object) -> Any:
        """What it returns. Events are thrown away."""
        self._lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._lines.flush()
        while True:
            answer = self._read()
            assert "error" not in answer, f"{command}: {answer}"
            if "return" in answer:
                return answer["return"]

    def inject(self, error: str, device: str = "card") -> None:
        """An error of PCIe, by its name in QEMU, that the device tells its root port of."""
        said = self.do("human-monitor-command", **{"command-line": f"pcie_aer_inject_error {device} {error}"})
        assert said.startswith("OK"), said

    def wait_gone(self, device: str, seconds: float = 60) -> None:
        """A device that was to be unplugged, which takes until its driver has let go of it."""
        deadline = deadline_in(seconds)
        while device in (it["name"] for it in self.do("qom-list", path="/machine/peripheral")):
            assert time.monotonic() < deadline, f"{device} is still there"
            time.sleep(0.1)

    def wait_status(self, status: str, seconds: float = 60) -> None:
        deadline = deadline_in(seconds)
        while (now := self.do("query-status")["status"]) != status:
            assert time.monotonic() < deadline, f"the machine is {now}, not {status}"
            time.sleep(0.1)
