# SPDX-License-Identifier: Apache-2.0
"""A function's doorbells in memory that the card looks at (struct meridian_link_doorbells in meridian_link.h)."""

from __future__ import annotations

import fcntl
import mmap
import os
import threading

from .memory import F_ADD_SEALS, F_SEAL_SHRINK
from .protocol import MAX_DOORBELLS

RUNG = 64  # offset of the bits
HEAD = RUNG + MAX_DOORBELLS // 8
STRIDE = 32  # of a queue
DOORBELL_REGISTERS = 16  # bytes of a queue's registers in BAR 0


class Doorbells:
    """One page, rung by one thread. Raises ValueError for a number of queues that a page has no room for."""

    def __init__(self, queues: int) -> None:
        if not 1 <= queues <= MAX_DOORBELLS:
            raise ValueError(f"doorbells of {queues} queues; it has to be 1 to {MAX_DOORBELLS}")
        self.queues = queues
        size = -(-(HEAD + STRIDE * queues) // mmap.PAGESIZE) * mmap.PAGESIZE
        self.file = os.memfd_create("meridian-doorbells", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.file, size)
        fcntl.fcntl(self.file, F_ADD_SEALS, F_SEAL_SHRINK)
        bytes_ = mmap.mmap(self.file, size)
        self._words = memoryview(bytes_).cast("Q")
        self._asleep = memoryview(bytes_).cast("I")
        self._barrier = threading.Lock()

    def ring(self, queue: int, register: int, value: int) -> bool:
        """register: 0, 4, 8 or 12 as in BAR 0. True if the card has to be woken."""
        word = (HEAD + STRIDE * queue) // 8 + register // 4
        self._words[word] = ((self._words[word] >> 32) + 1 & 0xFFFFFFFF) << 32 | value & 0xFFFFFFFF
        # No atomic OR in Python: as the card only clears bits and one thread sets them, the worst is one set once more.
        self._words[RUNG // 8 + queue // 64] |= 1 << queue % 64
        # A lock's instructions are a barrier; where they are none, a wake that is lost costs the card's longest sleep.
        with self._barrier:
            asleep = self._asleep[0] == 1
        if asleep:
            self._asleep[0] = 0
        return asleep

    def close(self) -> None:
        if self.file >= 0:
            os.close(self.file)
            self.file = -1
