"""Forwards what a cell writes to file descriptors 1 and 2, while it runs: Capture(send)."""

import codecs
import json
import os
import re
import select
import threading
import time

BEGIN, END = "\x02", "\x03"  # around a display, as include/xcpp/xdisplay.hpp writes them
DISPLAY = re.compile(f"{BEGIN}(\\w+) (.*?){END}", re.DOTALL)


class Channel:
    """One file descriptor. A thread reads the pipe that replaces it."""

    def __init__(self, name, fd, send):
        self.name, self.fd, self.send = name, fd, send
        self.text, self.rest = "", ""
        self.synced = threading.Event()
        reader, writer = os.pipe()
        os.dup2(writer, fd)
        os.close(writer)
        threading.Thread(target=self.read, args=(reader,), daemon=True).start()

    def read(self, reader):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := os.read(reader, 1 << 16):
            time.sleep(0.01)  # Cling writes its messages in small pieces: they become one output
            while len(data) < 1 << 20 and select.select([reader], [], [], 0)[0]:
                data += os.read(reader, 1 << 16)
            try:
                self.take(decoder.decode(data))
            except Exception as error:  # the thread must go on: a full pipe would stop the cells
                self.send("stream", {"name": "stderr", "text": f"[kernel] output was lost: {error!r}\n"})

    def take(self, text):
        text, self.rest, at = self.rest + text, "", 0
        for match in DISPLAY.finditer(text):
            self.write(text[at:match.start()])
            at = match.end()
            if match[1] == "sync":
                self.synced.set()
            else:
                self.send(match[1], {"data": json.loads(match[2]), "metadata": {}})
        begin = text.find(BEGIN, at)
        if begin >= 0:
            text, self.rest = text[:begin], text[begin:]
        self.write(text[at:])

    def write(self, text):
        if text:
            self.text = (self.text + text)[-65536:]
            self.send("stream", {"name": self.name, "text": text})

    def sync(self):
        """Waits until all that was written before is sent."""
        self.synced.clear()
        os.write(self.fd, f"{BEGIN}sync now{END}".encode())
        self.synced.wait(timeout=10)


class Capture:
    """send(kind, content) gets "stream", "display_data" and "execute_result", from the threads."""

    def __init__(self, send):
        self.channels = [Channel("stdout", 1, send), Channel("stderr", 2, send)]

    def begin(self):
        for channel in self.channels:
            channel.text = ""

    def end(self):
        """What was written to stderr since begin(), after everything is sent."""
        for channel in self.channels:
            channel.sync()
        return self.channels[1].text
