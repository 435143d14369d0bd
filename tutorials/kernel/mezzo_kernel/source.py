"""Structure of a cell's text: brackets, statements, the expression at its end."""

import re

TOKEN = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s\\]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
                   |^[ \t]*\#(?:\\\n|[^\n])*|(?P<open>/\*|R"[^(\s\\]*\()''', re.DOTALL | re.MULTILINE | re.VERBOSE)
DIGIT_MARK = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
DECLARATION = re.compile(r"(?:using|typedef|namespace|template|struct|class|enum|return|throw|static|extern)\b"
                         r"|[A-Za-z_][\w:<>,\s*&]*[\s*&]\s*[A-Za-z_]\w*\s*=[^=]")
TYPE = re.compile(r"\s*(?:typedef|struct|class|union|enum)\b")
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*if", re.MULTILINE)
BINDING = re.compile(r"\s*(?P<type>(?:const\s+)?auto(?:\s+const)?\s*(?:&&?)?)\s*"
                     r"\[(?P<names>[\w\s,]+)\]\s*(?P<rest>[={(].*)", re.DOTALL)
MOST_NAMES = 8  # of a structured binding: those of parts() in include/mezzo_kernel.hpp
BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}")


def blanked(code):
    """The code with comments, literals and directives replaced by as many blanks, or for literals quotes; and True if
    a comment or raw string has no end."""
    open_ended = False

    def blank(match):
        nonlocal open_ended
        open_ended = open_ended or match["open"] is not None
        text = match[0]
        literal = text[0] in "\"'R"
        return '"' * len(text) if literal else re.sub(r"[^\n]", " ", text)

    return TOKEN.sub(blank, DIGIT_MARK.sub("_", code)), open_ended


def is_complete(code):
    """"complete", or "incomplete" if a bracket, comment or raw string has no end."""
    plain, open_ended = blanked(code)
    depth = sum(plain.count(c) for c in "([{") - sum(plain.count(c) for c in ")]}")
    return "incomplete" if open_ended or depth > 0 or code.rstrip().endswith("\\") else "complete"


def statement_starts(plain):
    """Where the statements outside of brackets begin in blanked code."""
    starts, depth, begin = [], 0, 0
    for at, c in enumerate(plain):
        depth += (c in "([{") - (c in ")]}")
        ends = c == ";" or (c == "}" and not TYPE.match(plain, begin) and re.match(r"\s*[A-Za-z_]", plain[at + 1:]))
        if depth == 0 and ends:
            starts.append(begin)
            begin = at + 1
    return [*starts, begin]


def is_constant(statement):
    """True if the blanked statement has "const" outside of brackets."""
    count = 1
    while count:
        statement, count = BRACKETS.subn("", statement)
    return re.search(r"\bconst\b", statement) is not None


def split_constants(code):
    """The code in parts, of which each has a constant at most as its first statement. Cling initializes the constants of
    an input before its other variables, which the constants may read."""
    plain, open_ended = blanked(code)
    if open_ended or CONDITIONAL.search(code):
        return [code]
    starts = statement_starts(plain)
    cuts = [0]
    for begin, end in zip(starts[1:], [*starts[2:], len(plain)]):
        statement = plain[begin:end]
        if is_constant(statement):
            cuts.append(begin + len(statement) - len(statement.lstrip()))
    return [code[begin:end] for begin, end in zip(cuts, [*cuts[1:], len(code)])]


def expand_bindings(code, number):
    """The code with each `auto [a, b] = f();` outside of brackets as references to the parts of a variable, since Cling
    crashes by structured bindings there. The variables have the number of the cell in their names."""
    plain, open_ended = blanked(code)
    if open_ended or CONDITIONAL.search(code):
        return code
    starts, out = statement_starts(plain), []
    for count, (begin, end) in enumerate(zip(starts, [*starts[1:], len(plain)])):
        match = BINDING.fullmatch(plain[begin:end])
        names = [name.strip() for name in match["names"].split(",")] if match else []
        if not names or len(names) > MOST_NAMES:
            out.append(code[begin:end])
            continue
        whole = f"mezzo_bound_{number}_{count}"
        out.append(f"{code[begin:begin + match.start('type')]}{match['type'].strip()} {whole} "
                   f"{code[begin + match.start('rest'):end]}")
        out += [f" auto& {name} = std::get<{at}>(::mezzo_kernel::parts<{len(names)}>({whole}));"
                for at, name in enumerate(names)]
    return "".join(out)


def split_expression(code):
    """(statements, expression): the expression has no semicolon and is the cell's last; "" if there is none."""
    plain, open_ended = blanked(code)
    depth, end = 0, 0
    for at, c in enumerate(plain):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if depth == 0 and c in ";}":
            end = at + 1
    tail = plain[end:].strip()
    if open_ended or depth != 0 or not tail or tail.startswith(".") or DECLARATION.match(tail):
        return code, ""
    at = end + len(plain[end:]) - len(plain[end:].lstrip())
    stop = end + len(plain[end:].rstrip())
    return code[:at], code[at:stop]
