"""Prints the findings of a check."""


def report(findings):
    """Prints a line for each finding, a text or a place with the rule that it breaks, and their number. Returns the
    exit code: 1 if there are any."""
    for finding in findings:
        print(finding if isinstance(finding, str) else ": ".join(map(str, finding)))
    print(f"{len(findings)} findings")
    return 1 if findings else 0
