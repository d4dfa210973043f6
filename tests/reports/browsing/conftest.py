"""A headless browser, driven over two pipes, so that a test sees a page as its readers do."""

import itertools
import json
import os
import select
import shutil
import subprocess
import time

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--headless",
    "--no-sandbox",  # it runs as root in containers, on pages of ours alone
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
PATIENCE = 20.0
KEYS = {
    "Enter": {"code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Escape": {"code": "Escape", "windowsVirtualKeyCode": 27},
}


class Browser:
    """One tab of a browser, and the events that it sent."""

    def __init__(self, profile):
        self.messages = []
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session = None
        self._answers, written = os.pipe()
        read, self._commands = os.pipe()
        # It wants the commands on descriptor 3 and gives the answers on 4.
        script = f'exec "$0" "$@" 3</dev/fd/{read} 4>/dev/fd/{written}'
        options = (*QUIET, f"--user-data-dir={profile}", "--remote-debugging-pipe")
        self._process = subprocess.Popen(
            ["sh", "-c", script, CHROMIUM, *options, "about:blank"],
            pass_fds=(read, written),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(written)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self._session = None
        self.call("Browser.close")
        self._process.wait(PATIENCE)
        os.close(self._commands)
        os.close(self._answers)

    def call(self, method, **parameters):
        """Send a command, and wait for its answer."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        answer = self._wait(lambda messages: messages.get("id") == number)
        assert "error" not in answer, answer
        return answer["result"]

    def _wait(self, wanted):
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self._rest:
                line, _, self._rest = self._rest.partition(b"\0")
                messages = json.loads(line)
                if "id" not in messages:
                    self.messages.append(messages)
                if wanted(messages):
                    return messages
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser gave no answer"
            data = os.read(self._answers, 1 << 20)
            assert data, "the browser has gone"
            self._rest += data

    def open(self, file, address="", *, width=1000, height=800, scheme="light"):
        """Open a file from disk, in a window of this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"{file.as_uri()}{address}")
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def ask(self, expression):
        """Return the value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression):
        """Wait until this holds in the page."""
        end = time.monotonic() + PATIENCE
        while not self.ask(expression):
            assert time.monotonic() < end, f"never: {expression}"
            self.ask("new Promise((done) => setTimeout(done, 5))")

    def press(self, key):
        """Press and release a key."""
        how = {"key": key, **KEYS.get(key, {"text": key})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **how)
        self.call("Input.dispatchKeyEvent", type="keyUp", **how)

    def complaints(self):
        """Return the page's console messages and uncaught errors."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [messages["params"] for messages in self.messages if messages["method"] in kinds]

    def requests(self):
        """Return the addresses that were requested over a network or from disk."""
        sent = (messages for messages in self.messages if messages["method"] == "Network.requestWillBeSent")
        return {messages["params"]["request"]["url"].partition("#")[0] for messages in sent} - {"about:blank"}


@pytest.fixture
def browser(tmp_path):
    """A browser with an empty tab."""
    if CHROMIUM is None:
        pytest.skip("no chromium is installed; `apt-get install chromium` brings one")
    opened = Browser(tmp_path / "profile")
    yield opened
    opened.close()
