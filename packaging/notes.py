# SPDX-License-Identifier: Apache-2.0
"""Prints a release's notes: what was changed since the release before it, by area, newest first."""

from __future__ import annotations

import argparse
import re
import sys

import history


def by_area(changes: list[str]) -> dict[str, list[str]]:
    """The area is what stands before the first colon of a commit's first line; the areas are in alphabetical order."""
    areas: dict[str, list[str]] = {}
    for change in changes:
        area, colon, said = change.partition(": ")
        named = colon and re.fullmatch(r"[\w/., -]+", area)
        areas.setdefault(area if named else "other", []).append(said if named else change)
    return dict(sorted(areas.items()))


def notes(version: str, commit: str, releases: list[history.Release]) -> str:
    since = f"since {releases[1].version}" if len(releases) > 1 else "since the first commit"
    lines = [f"# Meridian {version}", f"Commit {commit}. {len(releases[0].changes)} changes {since}:"]
    for area, changes in by_area(releases[0].changes).items():
        lines += ["", f"## {area}", *(f"- {change}" for change in changes)]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, help="of the release")
    arguments = parser.parse_args()
    try:
        print(notes(arguments.version, history.git(history.ROOT, "rev-parse", "HEAD"), history.releases()))
    except history.Refused as reason:
        print(f"notes: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
