# SPDX-License-Identifier: Apache-2.0
"""The bench of the shell: what it makes of what shell_bench says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from shell import FCS, Shell, rates


class Played(Shell):
    """Says that so much of the frames of 64 bytes was lost on receive, in percent."""

    lost = 0.0

    def run(self, measurement: str, sizes: list[int] | None = None, *options: str) -> Iterator[dict[str, Any]]:
        point = {"bytes": 64 + FCS}
        yield {"id": f"{measurement}_line_rate", "value": 100.0, "with": point}
        yield {"id": f"{measurement}_loss", "value": self.lost, "with": point}


def test_rates_are_given_of_both_directions() -> None:
    found = [(one.id, one.value, one.point["bytes"]) for one in rates(Played(1, 256), [64])]
    assert found == [("rx_rate_percent", 100.0, 64), ("tx_rate_percent", 100.0, 64)]


@pytest.mark.parametrize("percent", [0.001, 0.5, 100])
def test_a_lost_frame_ends_the_bench(percent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Played, "lost", percent)
    with pytest.raises(SystemExit, match=f"{percent:g} percent of 64 bytes lost"):
        list(rates(Played(1, 256), [64]))
