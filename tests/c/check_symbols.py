"""Checks that a library of the C interface exports what its header declares, and nothing else.

check_symbols.py LIBRARY FOLDER: FOLDER has mezzo.h and exports.txt.
"""

import re
import subprocess
import sys
from pathlib import Path


def main(library, folder):
    header = (Path(folder) / "mezzo.h").read_text()
    declared = set(re.findall(r"MEZZO_C_API [^;(]*?\b(mezzo_\w+)\(", header))
    exports = (Path(folder) / "exports.txt").read_text()
    listed = set(re.findall(r"^\s+(mezzo_\w+);", exports, re.MULTILINE))
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", library], capture_output=True, text=True, check=True)
    symbols = {line.split()[-1] for line in listing.stdout.splitlines()}
    exported = {symbol for symbol in symbols if not symbol.startswith("MEZZO_C_")}
    expected = {f"{name}@@MEZZO_C_1" for name in listed}
    failed = False
    for what, found in (("declared in mezzo.h", declared), ("exported by the library", exported)):
        wanted = listed if found is declared else expected
        if found != wanted:
            print(f"{what}, but not in exports.txt: {sorted(found - wanted)}; missing: {sorted(wanted - found)}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
