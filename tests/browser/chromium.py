"""A headless Chromium, driven over the DevTools protocol through a pair of pipes."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
ANSWER_SECONDS = 60.0
# the browser reads its orders from descriptor 3 and writes its answers to 4
LAUNCHER = """
import fcntl, os, sys
orders, answers = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(orders, 3)
os.dup2(answers, 4)
os.closerange(5, 256)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


class DevToolsError(RuntimeError):
    """The browser refused an order, or the page threw."""


class Browser:
    """One browser process with a profile of its own. Use as a context manager."""

    def __init__(self, executable: str) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="panel-browser-", ignore_cleanup_errors=True)
        read_orders, self._orders = os.pipe()
        self._answers, write_answers = os.pipe()
        ends = [str(read_orders), str(write_answers)]
        browser = [executable, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, *ends, *browser],
            pass_fds=(read_orders, write_answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(read_orders)
        os.close(write_answers)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with os.fdopen(self._answers, "rb", buffering=0) as answers:
            rest = b""
            while chunk := answers.read(1 << 16):
                *messages, rest = (rest + chunk).split(b"\0")
                for message in messages:
                    self._dispatch(json.loads(message))
        for waiting in list(self._waiting.values()):
            waiting.put({"error": {"message": "the browser is gone"}})

    def _dispatch(self, message: dict[str, Any]) -> None:
        if waiting := self._waiting.get(message.get("id", 0)):
            waiting.put(message)
        elif page := self._pages.get(message.get("sessionId", "")):
            page.hear(message["method"], message["params"])

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._waiting[number] = waiting
        order = {"id": number, "method": method, "params": params} | (
            {"sessionId": session} if session else {}
        )
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        try:
            answer = waiting.get(timeout=ANSWER_SECONDS)
        except queue.Empty:
            raise DevToolsError(f"{method} was not answered in {ANSWER_SECONDS:g} s") from None
        finally:
            del self._waiting[number]
        if "error" in answer:
            raise DevToolsError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def new_page(self, width: int = 1440, height: int = 900, *, dark: bool = False, scale: float = 1) -> Page:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        self._pages[session] = page
        page.send("Runtime.enable")
        page.send("Log.enable")
        page.send("Page.enable")
        phone = width < 500
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}
        page.send("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        page.send("Emulation.setEmulatedMedia", features=scheme)
        return page

    def close(self) -> None:
        with contextlib.suppress(OSError, DevToolsError):
            self.send("Browser.close")
        os.close(self._orders)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._reader.join(timeout=10)
        self.profile.cleanup()


class Page:
    """One tab. `faults` holds what its console complained of."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self.browser = browser
        self.target = target
        self.session = session
        self.faults: list[str] = []

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.send(method, self.session, **params)

    def hear(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning", "assert"}:
            self.faults.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in {"error", "warning"}:
            self.faults.append(f"{params['entry']['text']} {params['entry'].get('url', '')}".strip())

    def before_load(self, script: str) -> None:
        self.send("Page.addScriptToEvaluateOnNewDocument", source=script)

    def open(self, url: str) -> None:
        result = self.send("Page.navigate", url=url)
        if "errorText" in result:
            raise DevToolsError(f"{url}: {result['errorText']}")
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if details := result.get("exceptionDetails"):
            raise DevToolsError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, condition: str, seconds: float = 20) -> Any:
        """The first truthy value of a JavaScript expression; raises when none comes in time."""
        despair = json.dumps(f"waited in vain for {condition}")
        until = time.time() + seconds
        look = f"""new Promise((resolve, reject) => {{
            const look = () => {{
                const value = document.body && ({condition});
                if (value) resolve(value);
                else if (Date.now() > {until * 1000}) reject(new Error({despair}));
                else setTimeout(look, 40);
            }};
            look();
        }})"""
        while True:
            try:
                return self.evaluate(look)
            except DevToolsError as error:
                if "navigated" not in str(error) or time.time() > until:
                    raise

    def text(self, selector: str) -> str:
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def texts(self, selector: str) -> list[str]:
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        return self.evaluate(f"{found}.map(node => node.innerText)")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            typed = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, **typed)

    def point(self, x: float, y: float) -> None:
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """With the left button held, from one point to another."""
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            held = {"button": "left", "buttons": int(kind != "mouseReleased"), "clickCount": 1}
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    def wheel(self, x: float, y: float, delta: float, *, control: bool = False) -> None:
        turned = {"deltaX": 0, "deltaY": delta, "modifiers": 2 if control else 0}
        self.send("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, **turned)

    def picture(self, path: Path) -> None:
        data = self.send("Page.captureScreenshot", format="png", optimizeForSpeed=False)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self.browser.send("Target.closeTarget", targetId=self.target)


@contextlib.contextmanager
def chromium(executable: str) -> Iterator[Browser]:
    browser = Browser(executable)
    try:
        yield browser
    finally:
        browser.close()
