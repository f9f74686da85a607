# SPDX-License-Identifier: Apache-2.0
"""The initial RAM disk: the image's own part, then what one machine is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .tools import ROOT, Image

Content = Path | bytes


def cpio(files: Mapping[str, Content]) -> bytes:
    """A cpio archive ("newc") of files by name, all of root and executable, with the folders they are in."""
    archive = bytearray()

    def add(name: str, mode: int, data: bytes) -> None:
        number = len(archive) + 1
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        archive.extend(b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0")
        archive.extend(bytes(-len(archive) % 4))
        archive.extend(data + bytes(-len(data) % 4))

    for folder in sorted({str(parent) for name in files for parent in Path(name).parents if str(parent) != "."}):
        add(folder, 0o040755, b"")
    for name, content in files.items():
        add(name, 0o100755, content if isinstance(content, bytes) else content.read_bytes())
    add("TRAILER!!!", 0, b"")
    return bytes(archive)


def card_tools() -> dict[str, Content]:
    """meridian-selftest, meridian-eye and what they read, as the package meridian-tools has them."""
    folder = ROOT / "host-driver" / "tools"
    names = [path for name in ("selftest", "eye") for path in (f"meridian-{name}", f"meridian_{name}/**/*.py")]
    files: dict[str, Content] = {}
    for path in sorted(path for name in names for path in folder.glob(name)):
        files[f"tools/{path.relative_to(folder)}"] = path
    files["tools/meridian_regs.h"] = ROOT / "host-driver" / "include" / "meridian_regs.h"
    for path in sorted((ROOT / "vivado" / "boards").glob("*/board.tcl")):
        files[f"tools/boards/{path.parent.name}/board.tcl"] = path
    return files


def initrd(image: Image, files: Mapping[str, Content]) -> bytes:
    """`files` are under /run/twin when the machine is up."""
    ours = ROOT / "twin" / "images"
    given: dict[str, Content] = {"init": ours / "initramfs-init", "twin/init": ours / "init"}
    given |= {f"twin/{name}": content for name, content in (card_tools() | dict(files)).items()}
    return image.early.read_bytes() + cpio(given)
