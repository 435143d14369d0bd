"""Rules: few files of the library name a thing that others take in parts or behind an interface.

A file is counted once, however often it names the thing. Comments count, too.
"""

import re

from limits import Count
from sources import short

LIMIT = 0  # files that may name it without an exception

TRAINING_STATE = re.compile(r"\bTrainingState\b")
RANK = re.compile(r"(?<![A-Za-z])[Rr]ank|[a-z]Rank")  # as a word, or as one of the words of a name
PUBLIC_RANK = "on_all_ranks"                          # a name that callbacks override
ROOMS_OF_RANKS = ("training/ranks/", "training/step/")


def files_with(pattern, sources, paths, ignored=""):
    """{path below its root: Count at the first line that matches}"""
    found = {}
    for path in paths:
        lines = sources.tree.lines(path)
        first = next((n for n, line in enumerate(lines, 1)
                      if pattern.search(line.replace(ignored, "") if ignored else line)), None)
        if first:
            found[short(path)] = Count(1, f"{path}:{first}", "")
    return found


def count_training_state(sources, _):
    """Files that name the whole state of a training: functions take the part that they need."""
    return {key: count._replace(what="names TrainingState: take the part that is needed")
            for key, count in files_with(TRAINING_STATE, sources, sources.library).items()}


def count_ranks(sources, _):
    """Files of training that name ranks, without those rooms that make steps right with any number of them."""
    paths = [path for path in sources.library
             if short(path).startswith("training/") and not short(path).startswith(ROOMS_OF_RANKS)]
    return {key: count._replace(what="names ranks: use the ProcessGroup")
            for key, count in files_with(RANK, sources, paths, PUBLIC_RANK).items()}
