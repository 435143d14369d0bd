#!/usr/bin/env python3
"""Checks rules that have exceptions: cycles of includes, sources of a class, types of a header, lines of a function,
names that are alike, that hide others, stand twice in a unit or for two types, hidden options, files that name a TrainingState or
ranks. check_limits.py ROOT

Every finding is one line, `file:line: rule`; the exit code is 1 if there is any. exceptions.py lists the exceptions.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import anonymous_names  # noqa: E402
import class_files  # noqa: E402
import detail_names  # noqa: E402
import file_names  # noqa: E402
import function_lines  # noqa: E402
import header_types  # noqa: E402
import hidden_options  # noqa: E402
import include_cycles  # noqa: E402
import mentions  # noqa: E402
from exceptions import EXCEPTIONS  # noqa: E402
from limits import Limit, check  # noqa: E402
from report import report  # noqa: E402
from sources import Sources  # noqa: E402

RULES = [Limit("include cycles", include_cycles.LIMIT, include_cycles.count),
         Limit("sources of a class", class_files.LIMIT, class_files.count),
         Limit("types of a header", header_types.LIMIT, header_types.count),
         Limit("lines of a function", function_lines.LIMIT, function_lines.count),
         Limit("names alike", file_names.LIMIT, file_names.count),
         Limit("anonymous names", anonymous_names.LIMIT, anonymous_names.count_namespaces),
         Limit("anonymous names twice", anonymous_names.LIMIT, anonymous_names.count_twice),
         Limit("names of detail", detail_names.LIMIT, detail_names.count),
         Limit("hidden options", hidden_options.LIMIT, hidden_options.count),
         Limit("files that name TrainingState", mentions.LIMIT, mentions.count_training_state),
         Limit("files that name ranks", mentions.LIMIT, mentions.count_ranks)]


def check_limits(root, exceptions):
    """All findings as (where, rule)."""
    sources = Sources(root)
    return [finding for rule in RULES for finding in check(rule, sources, exceptions)]


def main():
    findings = check_limits(sys.argv[1] if len(sys.argv) > 1 else ".", EXCEPTIONS)
    for rule in RULES:
        print(f"{rule.name}: {len(EXCEPTIONS.get(rule.name, {}))} exceptions")
    return report(findings)


if __name__ == "__main__":
    sys.exit(main())
