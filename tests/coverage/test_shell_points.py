# SPDX-License-Identifier: Apache-2.0
"""What is made of Verilator's points, and the page of all parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from coverage_page import Row, page
from shell_points import CoverageError, component_of, components

HEAD = "# SystemC::Coverage-3\n"


def point(count: int, **fields: object) -> str:
    named = {"f": "Shell.v", "t": "toggle", **fields}
    return "C '" + "".join(f"\x01{name}\x02{value}" for name, value in named.items()) + f"' {count}\n"


def written(folder: Path, name: str, *points: str) -> Path:
    file = folder / name
    file.write_text(HEAD + "".join(points))
    return file


def test_a_bit_is_reached_if_one_instance_of_one_run_reaches_it(tmp_path: Path) -> None:
    bit = {"page": "v_toggle/Fifo_2", "o": "count[3]", "l": 7}
    files = [
        written(tmp_path, "1.dat", point(0, h="top.a", **bit), point(0, h="top.b", **bit)),
        written(tmp_path, "2.dat", point(0, h="top.a", **bit), point(3, h="top.b", **bit)),
    ]
    (fifo,) = components(files)
    assert (fifo.name, fifo.toggles.points, fifo.toggles.reached, fifo.lines.points) == ("Fifo", 1, 1, 0)
    (fifo,) = components(files[:1])
    assert fifo.toggles.missed == ["Fifo_2: count[3]"] and fifo.toggles.percent == 0


def test_branches_of_the_same_line_are_points_of_their_own(tmp_path: Path) -> None:
    page_ = {"page": "v_branch/Fifo", "l": 12}
    file = written(tmp_path, "1.dat", point(5, o="if", **page_), point(0, o="else", **page_))
    (fifo,) = components([file])
    assert (fifo.lines.points, fifo.lines.reached, fifo.lines.missed) == (2, 1, ["Fifo: line 12 else"])
    assert fifo.lines.percent == 50


@pytest.mark.parametrize(
    ("module", "component"), [("Fifo", "Fifo"), ("Fifo_12", "Fifo"), ("Crc32", "Crc32"), ("A_1_2", "A_1")]
)
def test_modules_with_a_number_are_of_one_component(module: str, component: str) -> None:
    assert component_of(module) == component


@pytest.mark.parametrize("text", ["", "TN:\nSF:Shell.v\n", HEAD + "C 'no count'\n"])
def test_a_file_that_verilator_has_not_written_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.dat"
    file.write_text(text)
    with pytest.raises(CoverageError, match="other.dat"):
        components([file])


def test_the_page_has_the_least_covered_first_and_a_sum() -> None:
    text = page([("card", "the models", [Row("full.cpp", 10, 10), Row("half<1>.cpp", 5, 10, 1, 4)], "card/lines.html")])
    assert text.index("75.0 %") < text.index("half&lt;1&gt;.cpp") < text.index("full.cpp")
    assert "25.0 %" in text and "The models" in text and 'href="card/lines.html"' in text
