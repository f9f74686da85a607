# SPDX-License-Identifier: Apache-2.0
"""What all that is opened here has in common."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """Its `with` block ends with close()."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
