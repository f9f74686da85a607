# SPDX-License-Identifier: Apache-2.0
"""QEMU with the card's device, and the machines it boots; built once and kept in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from meridian_machine import Image, tools
from meridian_twin.wire import Wire
from qtest import Qtest


@pytest.fixture(scope="session")
def qemu() -> Path:
    return tools.qemu()


@pytest.fixture(scope="session", params=tools.SUITES)
def image(request: pytest.FixtureRequest) -> Image:
    """Of each suite in turn."""
    return Image.build(request.param)


def plugged_into(machine: type[Qtest]) -> Any:
    """A fixture: each call of it starts a machine without a kernel, with a card of its own; both, and the card's wire."""

    @pytest.fixture
    def plug(run_card: Callable[..., Any], qemu: Path) -> Iterator[Callable[..., tuple[Qtest, Wire]]]:
        links: list[Qtest] = []

        def plug(*options: Any, card_options: Sequence[str] = (), **named: Any) -> tuple[Qtest, Wire]:
            card = run_card("--time", "wall", *card_options)
            links.append(machine(qemu, card.socket, *options, **named))
            return links[-1], card.wires[0]

        yield plug
        for link in links:
            link.close()

    return plug


def on_wire(link: Qtest, wire: Wire, count: int) -> list[bytes]:
    return [f.data for f in link.collect(wire.take, count, "frames on the wire")]
