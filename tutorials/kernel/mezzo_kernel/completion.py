"""Names that continue a word. Cling's own completion gave no reply within a minute after mezzo's headers were included."""

import os
import re
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w{2,}")
BEGIN = re.compile(r"[A-Za-z_]\w*$")


class Names:
    """Names of mezzo's installed headers and of the cells that ran."""

    def __init__(self):
        self.names = set()
        self.read = False

    def add(self, code):
        self.names.update(WORD.findall(COMMENT.sub("", code)))

    def matches(self, code, cursor):
        """(names that begin as the word before the cursor, length of that word)"""
        if not self.read:
            self.read = True
            for path in Path(os.environ.get("MEZZO_PREFIX", "/usr/local"), "include/mezzo").rglob("*.hpp"):
                self.add(path.read_text(errors="replace"))
        match = BEGIN.search(code[:cursor])
        begin = match[0] if match else ""
        if not begin:
            return [], 0
        return sorted(name for name in self.names if name.startswith(begin) and name != begin), len(begin)
