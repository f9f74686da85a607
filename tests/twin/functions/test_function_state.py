# SPDX-License-Identifier: Apache-2.0
"""Whether a function may access memory, as the card tells the function itself, its PF and the whole host."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from meridian_twin import Link, LinkError
from meridian_twin.protocol import Role
from two_pfs import TWO_PFS

pytestmark = pytest.mark.seconds(17)
PF, VF = 1, 6
ONLY_ITS_OWN = "the client plays one function alone, and asks for that and for VFs of it"


@pytest.fixture
def card(run_card: Any, own_dma: bool) -> Any:
    """The DMA engine of our own is made with the VFs of PF 1, which the model of the QDMA IP is told of."""
    return run_card(configuration=TWO_PFS if own_dma else ())


def test_a_functions_access_to_memory_is_what_was_set_last(card: Any) -> None:
    with (
        Link(card.socket) as host,
        Link(card.socket, Role.PCIE_FUNCTION, function=PF) as pf,
        Link(card.socket, Role.PCIE_FUNCTION, function=VF) as vf,
    ):

        def said() -> set[bool]:
            return {link.may_access(VF) for link in (host, pf, vf)}

        host.enable(0)
        assert (host.may_access(0), host.may_access(PF), pf.may_access(PF)) == (True, False, False)
        vf.enable(VF, parent=PF)
        assert said() == {True}
        vf.enable(VF, False, PF)
        assert said() == {False}
        vf.enable(VF, parent=PF)
        vf.reset_function(VF)
        assert said() == {False}
        vf.enable(VF, parent=PF)
        pf.reset_function(PF)
        assert said() == {False}, "the reset of a PF takes its VFs along"
        vf.enable(VF, parent=PF)
        assert said() == {True}
        vf.close()
        host.wait(lambda: not host.may_access(VF), "the end of the VF")
        assert not pf.may_access(VF)


@pytest.mark.parametrize(
    ("asker", "function", "sentence"),
    [
        (PF, 0, ONLY_ITS_OWN),
        (PF, VF - 1, ONLY_ITS_OWN),
        (0, VF, ONLY_ITS_OWN),
        (0, PF, ONLY_ITS_OWN),
        (VF, PF, ONLY_ITS_OWN),
        (VF, VF - 1, ONLY_ITS_OWN),
        (None, 256, "functions are 0 to 255"),
    ],
)
def test_a_function_is_not_told_of_the_access_of_others(
    card: Any, asker: int | None, function: int, sentence: str
) -> None:
    """A refused request ends no connection."""
    role = Role.PCIE if asker is None else Role.PCIE_FUNCTION
    with ExitStack() as stack:
        asking = stack.enter_context(Link(card.socket, role, function=asker or 0))
        if asker != VF:
            stack.enter_context(Link(card.socket, Role.PCIE_FUNCTION, function=VF)).enable(VF, parent=PF)
        with pytest.raises(LinkError, match=sentence):
            asking.may_access(function)
        asking.enable(asker or 0, parent=PF if asker == VF else None)
        assert asking.may_access(asker or 0)


def test_the_ps_has_no_functions(run_card: Any) -> None:
    with Link(run_card().socket, Role.AXI) as ps, pytest.raises(LinkError, match="only the host has functions"):
        ps.may_access(0)


def test_a_client_of_version_2_does_not_ask(run_card: Any) -> None:
    with (
        Link(run_card().socket, version=2) as host,
        pytest.raises(LinkError, match="a client does not send messages of type 17 in version 2"),
    ):
        host.may_access(0)
