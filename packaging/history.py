# SPDX-License-Identifier: Apache-2.0
"""Version of a commit, and what was changed from release to release, by Git.

The number has one source, MERIDIAN_VERSION in host-driver/linux/meridian.h. A release is a tag vNUMBER.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "host-driver/linux/meridian.h"
NUMBER = re.compile(r'^#define MERIDIAN_VERSION\s+"([^"]*)"$', re.MULTILINE)


class Refused(Exception):
    """A sentence that says why not, and what to do."""


@dataclass(frozen=True)
class Release:
    """A version, the time of its commit in seconds since 1970, and the first lines of its commits, newest first."""

    version: str
    time: int
    changes: list[str]


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise Refused(f"git {words[0]} failed: {done.stderr.strip()}. This command needs a clone of the repository")
    return done.stdout.strip()


def number(text: str) -> str:
    """The number in the text of SOURCE."""
    found = NUMBER.findall(text)
    if len(found) != 1 or not re.fullmatch(r"\d+(\.\d+)+", found[0]):
        raise Refused(f'{SOURCE} has no single line #define MERIDIAN_VERSION "MAJOR.MINOR": write it')
    return found[0]


def count(root: Path, commits: str) -> int:
    return int(git(root, "rev-list", "--count", commits))


def version(root: Path = ROOT, commit: str = "HEAD") -> str:
    """NUMBER of a commit with its tag; before that NUMBER~gitCOUNT.HASH, which sorts lower; after it NUMBER+git..."""
    if git(root, "rev-parse", "--is-shallow-repository") == "true":
        raise Refused("the clone's history is cut off, so commits cannot be counted: 'git fetch --unshallow' first")
    own, name = number(git(root, "show", f"{commit}:{SOURCE}")), git(root, "rev-parse", commit)[:8]
    here = git(root, "tag", "--points-at", commit, "--list", "v[0-9]*").split()
    if here and f"v{own}" not in here:
        raise Refused(
            f"the commit {name} has the tag {' '.join(here)} and MERIDIAN_VERSION {own} in {SOURCE}: commit the number"
            " of the release first, and set its tag there"
        )
    if f"v{own}" in git(root, "tag", "--merged", commit).split():
        later = count(root, f"v{own}..{commit}")
        return f"{own}+git{later}.{name}" if later else own
    return f"{own}~git{count(root, commit)}.{name}"


def releases(root: Path = ROOT, commit: str = "HEAD", paths: tuple[str, ...] = ()) -> list[Release]:
    """From the newest to the oldest: the commit itself, then the tags before it. paths: only changes of these."""
    tags = git(root, "tag", "--merged", commit, "--list", "v[0-9]*").split()
    tags.sort(key=lambda tag: count(root, tag), reverse=True)  # a commit has more before it than each of these has
    here = git(root, "rev-parse", commit)
    ends = [commit, *(tag for tag in tags if git(root, "rev-parse", f"{tag}^{{commit}}") != here)]
    found = []
    for end, before in zip(ends, [*ends[1:], ""], strict=True):
        commits = f"{before}..{end}" if before else end
        changes = git(
            root, "log", "--no-merges", "--format=%s", commits, *(("--", *paths) if paths else ())
        ).splitlines()
        found.append(Release(version(root, end), int(git(root, "log", "-1", "--format=%ct", end)), changes))
    return found


def main() -> int:
    """Prints the version of the last commit."""
    try:
        print(version())
    except Refused as reason:
        print(f"history: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
