# SPDX-License-Identifier: Apache-2.0
"""A session's output while the program goes on: here a shell that counts, in place of testpmd."""

from __future__ import annotations

from sessions import Session

LAST = 200_000


def test_reading_the_output_while_it_grows_loses_and_repeats_nothing() -> None:
    with Session(["bash", "-c", f"for ((i = 1; i <= {LAST}; i++)); do echo $i; done; cat >/dev/null"]) as session:
        session.wait(lambda: any(session.output().endswith(f"\n{LAST}\n") for _ in range(1000)))
    assert session.output().split() == [str(number) for number in range(1, LAST + 1)]
