# SPDX-License-Identifier: Apache-2.0
"""Follows the card's ptp4l: what its unit says, over one login that lasts."""

from __future__ import annotations

import re
import subprocess
import threading

from meridian_machine import SdMachine
from meridian_machine.processes import guarded, stop

from .record import Offset, Record

LINE = re.compile(r"master offset +(-?\d+) (s\d) freq +([+-]?\d+) path delay +(-?\d+)")
#: A line for each Sync. The machine's own clock is not twin time, so ptp4l is not to compare the two, and has patience.
OPTIONS = "--summary_interval=-10 --tx_timestamp_timeout=2000 --sanity_freq_limit=0 --announceReceiptTimeout=255"
UNIT = "meridian-ptp4l@port0"
SET_UP = f"""
sed -i 's/^PTP_OPTIONS=.*/PTP_OPTIONS="{OPTIONS}"/' /etc/meridian/ptp.conf
systemctl restart {UNIT}
"""


class Clock:
    """Until it is closed, writes into the record what ptp4l says."""

    def __init__(self, machine: SdMachine, record: Record) -> None:
        machine.run(SET_UP, 120, check=True)
        command = [*machine.ssh(), f"journalctl -fu {UNIT} -o cat -n 0"]
        self._process = subprocess.Popen(
            guarded(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._record = record
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            found = LINE.search(line.decode(errors="replace"))
            if found:
                offset, state, frequency, delay = found.groups()
                self._record.offsets.append(Offset(self._record.now(), int(offset), state, int(frequency), int(delay)))

    def locked(self, count: int = 16, limit: int = 2) -> bool:
        """The last offsets are within so many ns."""
        last = self._record.offsets[-count:]
        return len(last) == count and all(it.state == "s2" and abs(it.offset) <= limit for it in last)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        stop(self._process)
        self._thread.join(10)
