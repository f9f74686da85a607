# SPDX-License-Identifier: Apache-2.0
"""The parts of the report's page: tables, pictures, links."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("report.css")
#: What stands in a picture for a colour of the page's style: the text's, and those of lines.
INK = "#010203"
LINES = tuple(f"#a{number}b2c3" for number in range(1, 7))


class Number(str):
    """The head of a column of numbers."""


def text(value: object) -> str:
    return html.escape(str(value))


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of numbers are those whose head is a Number."""
    kinds = [' class="number"' if isinstance(name, Number) else "" for name in head]
    top = "".join(f'<th scope="col"{kind}>{text(name)}</th>' for name, kind in zip(head, kinds, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{text(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table><caption>{text(caption)}'
        f"</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def picture(figure: Figure, name: str, caption: str, alternative: str) -> str:
    """An SVG whose colours are the page's. name: of its own on the page; alternative: for who does not see it."""
    drawn = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(drawn, format="svg", metadata=nothing)
    image = drawn.getvalue()
    image = image[image.index("<svg") :]
    # Several pictures stand on one page, so each has identifiers of its own.
    image = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", image)
    image = re.sub(r"<svg ", f'<svg role="img" aria-label="{text(alternative)}" ', image, count=1)
    for number, colour in enumerate(LINES, 1):
        image = image.replace(colour, f"var(--line-{number})")
    image = image.replace(INK, "currentColor")
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">{image}</div>'
        f"<figcaption>{text(caption)}</figcaption></figure>"
    )


def page(title: str, body: str) -> str:
    """Well-formed XML, too."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/><link rel="icon" href="data:,"/><title>{text(title)}</title>
<style>
{STYLE.read_text()}</style></head><body>
{body}
</body></html>
"""
