"""A headless Chromium, spoken to over its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-allow-origins=*",
    "--remote-debugging-port=0",
)
PATIENCE_S = 60


def find() -> str | None:
    """The browser's path, if there is one."""
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))),
        None,
    )


class Tab:
    """One page. Events are kept; console messages, requests and failures are read from them."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command's result; raises RuntimeError with what the browser said if it refuses."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def navigate(self, url: str) -> None:
        """Load a page and wait until it is complete; needs no JavaScript in the page."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + PATIENCE_S
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < deadline, f"{url} did not load"
            time.sleep(0.05)
            self.call("Page.getFrameTree")  # events are read along with its answer

    def open(self, path: Path) -> None:
        """Load a file and wait until it has been painted."""
        self.navigate(path.as_uri())
        self.painted()

    def painted(self) -> None:
        """Wait until the page has been laid out and painted anew."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def count(self, selector: str) -> int:
        """How many elements a selector finds; needs no JavaScript in the page."""
        document = self.call("DOM.getDocument")["root"]["nodeId"]
        return len(self.call("DOM.querySelectorAll", nodeId=document, selector=selector)["nodeIds"])

    def size(self, width: int, height: int) -> None:
        """The window's size in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def prefer(self, scheme: str, media: str = "") -> None:
        """Emulate prefers-color-scheme, and a medium such as print."""
        self.call(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.painted()

    def press(self, key: str, code: int) -> None:
        """Press and let go of a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path, height: int | None = None) -> None:
        """A PNG of the page from its top, so many pixels high (all of it when it is not said)."""
        width, whole = self.run("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(whole, height or 16000), "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def requests(self) -> list[str]:
        """Addresses asked for since the page was opened, data: ones left out."""
        sent = [
            e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in sent if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, exceptions and policy violations."""
        return [
            json.dumps(e["params"])
            for e in self.events
            if e["method"] == "Runtime.exceptionThrown"
            or (
                e["method"] == "Runtime.consoleAPICalled"
                and e["params"]["type"] in ("error", "warning", "assert")
            )
            or (e["method"] == "Log.entryAdded" and e["params"]["entry"]["level"] in ("error", "warning"))
        ]


@contextmanager
def chromium(program: str) -> Iterator[Tab]:
    """A fresh browser with one tab; ended, and its profile removed, when done."""
    with tempfile.TemporaryDirectory(prefix="weft-browser-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield Tab(_connect(Path(profile) / "DevToolsActivePort", process))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _connect(file: Path, process: subprocess.Popen[bytes]) -> websocket.WebSocket:
    """A socket to the first tab; the browser writes its port to a file when it listens."""
    deadline = time.monotonic() + PATIENCE_S
    while not (file.exists() and file.read_text().count("\n")):
        assert process.poll() is None, f"the browser ended with status {process.returncode}"
        assert time.monotonic() < deadline, "the browser did not open its debugging port"
        time.sleep(0.05)
    port, path = file.read_text().splitlines()[:2]
    browser = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=PATIENCE_S)
    browser.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
    targets = json.loads(browser.recv())["result"]["targetInfos"]
    browser.close()
    tab = next(target["targetId"] for target in targets if target["type"] == "page")
    return websocket.create_connection(f"ws://127.0.0.1:{port}/devtools/page/{tab}", timeout=PATIENCE_S)
