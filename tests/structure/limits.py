"""Limits with a list of exceptions that only shrinks.

A rule counts something for each of its keys: files for each class, lines for each function. No count is above the
limit of the rule, or above the count in the list of exceptions. An exception whose count is not reached any more is a
finding, too: so the list always says how much is left to do.
"""

from typing import NamedTuple

LIST = "tests/structure/exceptions.py"


class Count(NamedTuple):
    """What a rule counted for a key."""

    number: int
    where: str  # "file:line"
    what: str   # the finding, if the number is too large: "class Dense is defined in 3 files"


class Limit(NamedTuple):
    """A rule: `count(sources, keys)` returns a Count for each key; `keys` are those of the exceptions."""

    name: str  # of its exceptions
    limit: int
    count: object


def check(rule, sources, exceptions):
    """Findings of one rule as (where, text)."""
    listed = exceptions.get(rule.name, {})
    counts = rule.count(sources, set(listed))
    for key, count in sorted(counts.items()):
        allowed = max(rule.limit, listed.get(key, rule.limit))
        if count.number > allowed:
            yield count.where, f"{count.what}; at most {allowed}"
    for key, allowed in listed.items():
        number = counts[key].number if key in counts else 0
        if number <= rule.limit:
            yield LIST, f"{rule.name}: {key} keeps the limit of {rule.limit}: delete the entry"
        elif number < allowed:
            yield LIST, f"{rule.name}: {key} is {number}: lower the entry from {allowed} to {number}"
