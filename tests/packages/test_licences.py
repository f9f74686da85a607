# SPDX-License-Identifier: Apache-2.0
"""debian/copyright has the licence that each file names, and the texts of all of them."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import licences

ROOT = Path(__file__).resolve().parents[2]


def paragraphs() -> list[dict[str, str]]:
    """Fields of each paragraph of debian/copyright, the lines of a field joined by blanks."""
    found = []
    for text in (ROOT / "packaging" / "debian" / "copyright").read_text().strip().split("\n\n"):
        fields = re.split(r"^([A-Z][A-Za-z-]*):", text, flags=re.MULTILINE)[1:]
        found.append({name: " ".join(value.split()) for name, value in zip(fields[::2], fields[1::2], strict=True)})
    return found


def test_copyright_repeats_the_licences_of_the_files() -> None:
    places = [(each["Files"].split(), each["License"]) for each in paragraphs() if "Files" in each]
    wrong = []
    for name, said in licences.of_files().items():
        # The last paragraph that fits counts.
        written = [licence for files, licence in places if any(fnmatch.fnmatch(name, file) for file in files)][-1]
        if said.replace(" OR ", " or ") != written:
            wrong.append(f"{name} says {said}, debian/copyright says {written}")
    assert not wrong, "\n".join(wrong)


def test_copyright_has_a_paragraph_for_each_licence() -> None:
    used = {word for each in paragraphs() if "Files" in each for word in each["License"].split(" or ")}
    explained = {each["License"].split()[0] for each in paragraphs() if "Files" not in each and "License" in each}
    assert used == explained
