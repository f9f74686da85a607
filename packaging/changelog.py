# SPDX-License-Identifier: Apache-2.0
"""Prints debian/changelog: an entry for each release, with the commits that changed what the packages are made from."""

from __future__ import annotations

import argparse
import sys
import textwrap
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import history

#: What the packages hold comes from these.
PATHS = (
    *("host-driver", "packaging", "vivado/boards"),
    *("docs/devlink.md", "docs/library.md", "docs/selftest.md", "docs/troubleshooting.md", "docs/vm.md"),
)
CONTROL = Path(__file__).with_name("debian") / "control"


def maintainer() -> str:
    return next(
        line.removeprefix("Maintainer: ") for line in CONTROL.read_text().splitlines() if line.startswith("Maintainer:")
    )


def entry(release: history.Release, revision: str, suite: str) -> str:
    lines = [f"meridian ({release.version}-{revision}) {suite}; urgency=medium", ""]
    for change in release.changes or ["Nothing that the packages are made from was changed."]:
        lines += textwrap.wrap(change, 78, initial_indent="  * ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(
        [*lines, "", f" -- {maintainer()}  {format_datetime(datetime.fromtimestamp(release.time, UTC))}", ""]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revision", default="1", help="Debian's revision of the version (1)")
    parser.add_argument("--suite", default="unstable", help="Debian suite that the packages are for (unstable)")
    parser.add_argument("--version", help="version of the newest entry, in place of that of the commit")
    arguments = parser.parse_args()
    try:
        newest, *others = history.releases(paths=PATHS)
        if arguments.version:
            newest = history.Release(arguments.version, newest.time, newest.changes)
        print("\n".join(entry(release, arguments.revision, arguments.suite) for release in [newest, *others]))
    except history.Refused as reason:
        print(f"changelog: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
