# SPDX-License-Identifier: Apache-2.0
"""Numbered frames between a machine with the card and who is at the other end of its wire."""

from __future__ import annotations

from random import Random

MINE = bytes.fromhex("02aabbccdd01")
PEER = bytes.fromhex("021111111111")


def frame(size: int, number: int = 0, to: bytes = MINE, of: bytes = PEER) -> bytes:
    head = to + of + b"\x88\xb5" + number.to_bytes(4, "big")
    return head + Random(number).randbytes(size - len(head))
