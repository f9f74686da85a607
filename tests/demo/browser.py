# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven by the DevTools protocol over a pair of pipes (--remote-debugging-pipe)."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from typing import Any

from meridian_twin.patience import deadline_in

SECONDS = 60


class Browser:
    """With one page. Every answer and event of the page is kept in `events`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="meridian-browser-", ignore_cleanup_errors=True)
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        command = [
            "bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash",
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
            f"--user-data-dir={self._folder.name}",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            command, pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._rest, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._take()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _take(self) -> dict[str, Any]:
        end = deadline_in(SECONDS)
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(end - time.monotonic(), 0))
            data = os.read(self._from, 1 << 16) if ready else b""
            assert data, "the browser has ended or does not answer"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, address: str) -> None:
        self.ask("Page.navigate", url=address)
        while not any(it.get("method") == "Page.loadEventFired" for it in self.events):
            self.events.append(self._take())

    def value(self, script: str) -> Any:
        return self.ask("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()
