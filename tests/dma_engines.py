# SPDX-License-Identifier: Apache-2.0
"""Whose DMA engine the card of a test has. The tests' option --dma says it, unless the test's own shell decides."""

from __future__ import annotations

import itertools

#: The model of the QDMA IP, whatever the option says.
QDMA_IP = ("--dma", "qdma")
#: Values of the generator's options with which it refuses the DMA engine of our own (docs/dma.md).
NOT_WITH_OWN_DMA = {"--host-bytes": ("64",), "--host-mhz": ("125",)}


def with_engine(generator: tuple[str, ...], dma: str) -> tuple[str, ...]:
    """The generator's options with that of an engine: what they name, or the QDMA IP if our own is refused, or dma.

    The QDMA IP is the generator's default, and is not named: what is built then has one name alone.
    """
    if any(value in NOT_WITH_OWN_DMA.get(option, ()) for option, value in itertools.pairwise(generator)):
        dma = "qdma"
    if "--dma" in generator:
        at = generator.index("--dma")
        generator, dma = (*generator[:at], *generator[at + 2 :]), generator[at + 1]
    return generator if dma == "qdma" else (*generator, "--dma", dma)
