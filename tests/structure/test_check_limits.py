#!/usr/bin/env python3
"""Shows that check_limits.py finds each kind of fault in a small bad tree, nothing in a good one, and exceptions that
are out of date."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_limits import RULES, check_limits  # noqa: E402
from exceptions import EXCEPTIONS  # noqa: E402
from limits import LIST  # noqa: E402

LIBRARY = "framework/mezzo/"


def findings(files, exceptions=None):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_limits(root, exceptions or {})


def including(*names):
    return "#pragma once\n" + "".join(f"#include <mezzo/{name}.hpp>\n" for name in names)


def types(count, kind="struct", name="T"):
    return "namespace mezzo {\n" + "".join(f"{kind} {name}{i} {{}};\n" for i in range(count)) + "}\n"


class Case(unittest.TestCase):
    def expect(self, files, where, *rules, exceptions=None):
        found = findings(files, exceptions)
        self.assertEqual([place for place, _ in found], [where], found)
        for rule in rules:
            self.assertIn(rule, found[0][1])

    def expect_nothing(self, files, exceptions=None):
        self.assertEqual(findings(files, exceptions), [])

    def expect_ratchet(self, files, rule, key, number, limit, where):
        """The exception of `number` is right; others are too low, too high or not needed."""
        self.expect_nothing(files, {rule: {key: number}})
        self.expect(files, where, f"at most {max(limit, number - 1)}", exceptions={rule: {key: number - 1}})
        self.expect(files, LIST, f"{key} is {number}: lower the entry from {number + 2} to {number}",
                    exceptions={rule: {key: number + 2}})
        self.expect({}, LIST, f"{key} keeps the limit of {limit}: delete the entry", exceptions={rule: {key: number}})


class IncludeCycles(Case):
    FOUR = {LIBRARY + "core/a.hpp": including("core/b"), LIBRARY + "core/b.hpp": including("core/c"),
            LIBRARY + "core/c.hpp": including(), LIBRARY + "core/c.cpp": including("core/d", "core/b"),
            LIBRARY + "core/d.isa.cpp": including("core/a", "core/b"), LIBRARY + "core/d.hpp": including()}

    def test_cycle(self):
        self.expect(self.FOUR, LIBRARY + "core/b.hpp:1", "4 components include one another: core/a, core/b, core/c, core/d")
        self.expect_ratchet(self.FOUR, "include cycles", "core/d", 4, 3, LIBRARY + "core/d.hpp:1")

    def test_short_cycles(self):
        files = dict(self.FOUR)
        files[LIBRARY + "core/c.cpp"] = including("core/b")
        self.expect_nothing(files)

    def test_cycle_by_relative_path(self):
        files = dict(self.FOUR)
        files[LIBRARY + "core/c.cpp"] = '#include "d.hpp"\n'
        self.expect(files, LIBRARY + "core/b.hpp:1", "4 components")

    def test_list_beside_a_header(self):
        files = {**self.FOUR, LIBRARY + "core/d.def": "D(1)\n"}
        files[LIBRARY + "core/c.cpp"] = "#include <mezzo/core/d.def>\n"
        self.expect_nothing(files)

    def test_cycle_of_two_rooms(self):
        room = "training/loops/"
        files = {path.replace("core/a", room + "a"): text.replace("core/a", room + "a")
                 for path, text in self.FOUR.items()}
        self.expect(files, LIBRARY + "core/b.hpp:1", "core/d, training/loops/a")

    def test_entry_of_a_part_that_left(self):
        files = {**self.FOUR, LIBRARY + "core/e.hpp": including("core/a")}
        found = findings(files, {"include cycles": {"core/e": 4}})
        self.assertEqual([place for place, _ in found], [LIBRARY + "core/b.hpp:1", LIST], found)


class SourcesOfAClass(Case):
    HEADER = "namespace mezzo { namespace detail { struct A { A(); ~A(); int f(); struct Part { int g(); }; }; } }\n"
    THREE = {LIBRARY + "core/a.hpp": "#pragma once\n" + HEADER,
             LIBRARY + "core/a.cpp": "namespace mezzo {\ndetail::A::A() : x_{1}, y_(2) { f(); }\n}\n",
             LIBRARY + "core/b.cpp": "namespace mezzo::detail {\nstd::function<int(int)> A::f() { return 1; }\n}\n",
             LIBRARY + "core/c.isa.cpp": "\nint mezzo::detail::A::Part::g() { return 1; }\n"}

    def test_class(self):
        where = LIBRARY + "core/c.isa.cpp:2"
        self.expect(self.THREE, where, "class mezzo::detail::A is defined in 3 sources: core/a.cpp, core/b.cpp, core/c")
        self.expect_ratchet(self.THREE, "sources of a class", "mezzo::detail::A", 3, 2, where)

    def test_defaulted_member(self):
        files = {**self.THREE, LIBRARY + "core/c.isa.cpp": "mezzo::detail::A::~A() = default;\n"}
        self.expect(files, LIBRARY + "core/c.isa.cpp:1", "3 sources")

    def test_two_sources(self):
        files = dict(self.THREE)
        files[LIBRARY + "core/c.isa.cpp"] = "void mezzo::detail::g() { detail::A::f(); }\nint mezzo::detail::x = 1;\n"
        self.expect_nothing(files)

    def test_anonymous_classes(self):
        text = "namespace mezzo { namespace { struct A { void f(); }; void A::f() {} } }\n"
        self.expect_nothing({LIBRARY + f"{folder}/a{folder}.cpp": text for folder in ("core", "io", "nn")})


class TypesOfAHeader(Case):
    def test_types(self):
        header = LIBRARY + "core/a.hpp"
        for kind in ["struct", "class", "union", "enum class", "enum", "class MEZZO_API", "template <class X>\nstruct"]:
            self.expect({header: types(6, kind)}, header + ":1", "6 types: T0, T1")
        self.expect_ratchet({header: types(6)}, "types of a header", "core/a.hpp", 6, 5, header + ":1")
        self.expect({header: types(3) + types(3, name="U").replace("mezzo", "mezzo::detail")}, header + ":1", "6 types")

    def test_what_does_not_count(self):
        others = "namespace mezzo {\nclass Known;\nstruct T1<int> {};\nusing A = int;\n" \
                 "struct T9 { struct Inner { enum class Kind { a }; }; };\n}\n"
        self.expect_nothing({LIBRARY + "core/a.hpp": types(4) + others})
        self.expect_nothing({LIBRARY + "core/a.cpp": types(9), "tests/core/a.hpp": types(9)})

    def test_options(self):
        header = LIBRARY + "core/a.hpp"
        own = "namespace mezzo {\nstruct T0Options {};\nstruct PadImagesOptions {};\nstruct HuberFunctionOptions {};\n" \
              "Value pad_images(const PadImagesOptions& options = {});\nValue huber(const HuberFunctionOptions&);\n}\n"
        self.expect_nothing({header: types(5) + own})
        self.expect({header: types(5) + "namespace mezzo { struct FitOptions {}; }\n"}, header + ":1", "FitOptions, T0")


class LinesOfAFunction(Case):
    def function(self, head, lines):
        return head + " {\n" + "  f();\n" * (lines - 2) + "}\n"

    def test_function(self):
        path = LIBRARY + "core/a.cpp"
        text = "/* one\ntwo */\n" + self.function("int A::f()", 61)
        self.expect({path: text}, path + ":3", "A::f has 61 lines")
        self.expect_ratchet({path: text}, "lines of a function", "core/a.cpp A::f", 61, 60, path + ":3")
        self.expect_nothing({path: self.function("int f()", 60) + "\n" * 9 + self.function("int g()", 60)})

    def test_kinds(self):
        for head, name in [("template <class T>\nint f(T x, int y = {})", "f"), ("A::A(int x) : x_{x}, y_(1)", "A::A"),
                           ("A::A() : B<int>{1}, x_{1},\n y_{}", "A::A"), ("bool operator==(A a, B b)", "operator=="),
                           ("auto f() -> std::vector<int>", "f"), ("BOOST_AUTO_TEST_SUITE(s)\n\n"
                                                                   "BOOST_AUTO_TEST_CASE(one)", "one")]:
            found = findings({"tests/core/a.cpp": self.function(head, 70)})
            self.assertEqual(len(found), 1, head)
            self.assertIn(f"{name} has 7", found[0][1])

    def test_member_in_a_header(self):
        path = LIBRARY + "core/a.hpp"
        text = "class A final : public B {\n public:\n" + self.function("  explicit A(int x) : x_{x}", 61) + "};\n"
        self.expect({path: text}, path + ":3", "A::A has 61 lines")

    def test_what_is_no_function(self):
        for head in ["const Table table =", "struct A", "enum class A", "namespace mezzo", "constexpr int list[] ="]:
            self.expect_nothing({LIBRARY + "core/a.cpp": head + " {\n" + "// line\n" * 70 + "};\n"})


class NamesAlike(Case):
    def test_names(self):
        for one, other in [("rank_step", "step_ranks"), ("activation", "activations"), ("a_b_c", "c_a_b")]:
            files = {LIBRARY + f"core/{one}.cpp": "", LIBRARY + f"nn/{other}.hpp": ""}
            self.expect(files, LIBRARY + f"core/{one}.cpp:1", f"{one} in core; {other} in nn")
            self.expect_ratchet(files, "names alike", f"{one} / {other}", 2, 1, LIBRARY + f"core/{one}.cpp:1")

    def test_other_names(self):
        self.expect_nothing({LIBRARY + f"core/{name}": "" for name in [
            "step.cpp", "step.hpp", "step.isa.cpp", "stepper.cpp", "step_rank.cpp", "a.cpp", "as.cpp"]})
        self.expect_nothing({LIBRARY + "core/step.cpp": "", "tests/core/steps.cpp": ""})


class AnonymousNames(Case):
    OUTER = "namespace mezzo {\nnamespace {\n%s\n}  // namespace\n}  // namespace mezzo\n"
    INNER = "namespace mezzo::detail {\nnamespace {\n%s\n}  // namespace\n}  // namespace mezzo::detail\n"

    def test_hidden_names(self):
        for one, other in [("constexpr int first = 1, suffix = 2;", "const char* suffix = nullptr;"),
                           ("struct suffix {\n  int a;\n};", "using suffix = int;"),
                           ("template <class T>\nvoid suffix(T a) {\n}", "int suffix() { return 1; }")]:
            files = {LIBRARY + "io/a.cpp": self.OUTER % one, LIBRARY + "io/b.cpp": self.INNER % other}
            self.expect(files, LIBRARY + "io/a.cpp:3",
                        "suffix is a name in the anonymous namespaces of mezzo, mezzo::detail")

    def test_wings_of_layers(self):
        files = {LIBRARY + "layers/core/a.cpp": self.OUTER % "int f();", LIBRARY + "layers/rnn/b.cpp": self.INNER % "int f();"}
        self.expect(files, LIBRARY + "layers/core/a.cpp:3", "f is a name")

    def test_other_names(self):
        one = {LIBRARY + "io/a.cpp": self.OUTER % "int f();\nusing detail::G;"}
        for name, text in [("io/b.cpp", self.OUTER % "int f(int a);"), ("io/b.cpp", self.INNER % "using detail::G;"),
                           ("io/b.cpp", "namespace mezzo::detail {\nint f() {\n  int g;\n  return g;\n}\n}\n"),
                           ("io/b.cpp", self.INNER % "int g() {\n  return f(1);\n}"),
                           ("nn/b.cpp", self.INNER % "int f();"), ("io/b.isa.cpp", self.INNER % "int f();")]:
            self.expect_nothing({**one, LIBRARY + name: text})


class AnonymousNamesTwice(Case):
    def both(self, one, other, folder="io"):
        text = AnonymousNames.INNER
        return {LIBRARY + f"{folder}/a.cpp": text % one, LIBRARY + f"{folder}/b.cpp": text % other}

    def test_clashes(self):
        for one, other in [("int f(int a) {\n  return a;\n}", "double f(int b) { return b; }"),
                           ("void f(const Shape& a,\n       int n = 1) {}", "void f(const Shape& of, int count);"),
                           ("template <class T>\nvoid f(const std::map<int, T>& a);",
                            "template <class T>\nint f(const std::map<int, T>& x) {\n}"),
                           ("constexpr std::size_t e = 1, f = 2;", "const char* const f = \"\";"),
                           ("struct f {\n  int a;\n};", "enum class f { a, b };"),
                           ("using f = int;", "using f = long;"), ("using f = int;", "void f();"),
                           ("const std::vector<int> f{1, 2};", "constexpr int f[] = {1, 1 << 2U};")]:
            found = findings(self.both(one, other))
            self.assertEqual(len(found), 1, (one, other, found))
            self.assertIn("f is in the anonymous namespaces of", found[0][1])
        self.expect(self.both("int f();", "int f();"), LIBRARY + "io/a.cpp:3", "a.cpp:3, framework/mezzo/io/b.cpp:3")
        self.expect_ratchet({**self.both("int f();", "int f();"), LIBRARY + "io/c.cpp": AnonymousNames.INNER % "int f();"},
                            "anonymous names twice", "io/f", 3, 1, LIBRARY + "io/a.cpp:3")

    def test_what_is_no_clash(self):
        for one, other in [("int f(int a);", "int f(double a);"), ("int f(int a);", "int f(int a, int b);"),
                           ("template <bool a>\nint f(int a);", "template <class T>\nint f(int a);"),
                           ("using f = std::pair<int, int>;", "using f = std::pair<int, int>;"),
                           ("namespace fs = std::filesystem;", "namespace fs = std::filesystem;"),
                           ("int a = g(f);", "int b = g(f);"), ("struct f;", "struct f;")]:
            self.expect_nothing(self.both(one, other))
        apart = self.both("int f();", "int f();")
        apart[LIBRARY + "nn/b.cpp"] = apart.pop(LIBRARY + "io/b.cpp")
        self.expect_nothing(apart)


class NamesOfDetail(Case):
    def test_type(self):
        files = {LIBRARY + "core/a.hpp": types(1), LIBRARY + "nn/b.hpp": types(1).replace("mezzo", "mezzo::detail")}
        self.expect(files, LIBRARY + "nn/b.hpp:1", "T0 is a type of mezzo, in framework/mezzo/core/a.hpp")

    def test_type_of_two_headers(self):
        files = {LIBRARY + "core/a.hpp": types(1), LIBRARY + "nn/b.hpp": types(1)}
        self.expect(files, LIBRARY + "nn/b.hpp:1",
                    "mezzo::T0 is a type of two headers, also of framework/mezzo/core/a.hpp")

    def test_other_types(self):
        self.expect_nothing({LIBRARY + "core/a.hpp": types(1), LIBRARY + "nn/b.hpp": types(1, name="U"),
                             LIBRARY + "nn/b.cpp": types(1).replace("mezzo", "mezzo::detail"),
                             LIBRARY + "backends/c.hpp": types(1).replace("mezzo", "mezzo::reference")})


class HiddenOptions(Case):
    MEMBER = "struct A {\n  detail::Named named{};  ///< leave it out\n};\n"

    def test_member(self):
        header = LIBRARY + "layers/a.hpp"
        files = {LIBRARY + "mezzo.hpp": including("layers/a"), header: self.MEMBER}
        self.expect(files, header + ":2", "1 members")
        files[header] += self.MEMBER.replace("A", "B").replace("detail::Named named", "int x")
        self.expect_ratchet(files, "hidden options", "layers/a.hpp", 2, 0, header + ":5")

    def test_private_header(self):
        self.expect_nothing({LIBRARY + "layers/a.hpp": self.MEMBER})


class Mentions(Case):
    def test_training_state(self):
        path = LIBRARY + "training/loops/a.cpp"
        text = "\nvoid f(TrainingState& state);\nvoid g(const detail::TrainingState& state);\n"
        self.expect({path: text}, path + ":2", "names TrainingState: take the part that is needed; at most 0")
        self.expect({path: "/// TrainingState::batch\n"}, path + ":1", "names TrainingState")
        self.expect_ratchet({path: text}, "files that name TrainingState", "training/loops/a.cpp", 1, 0, path + ":2")

    def test_no_training_state(self):
        self.expect_nothing({LIBRARY + "training/loops/a.cpp": "void f(Progress& progress = training_state(module));\n",
                             "tests/training/a.cpp": "TrainingState state;\n"})

    def test_ranks(self):
        for line in ["// of all ranks", "int rank = 0;", "if (x.rank() > 0) {}", "bool of_ranks;", "RankStep step;",
                     "void start_ranks();", "struct AllRanks {};", "#include <mezzo/training/ranks/a.hpp>"]:
            for room in ["loops", "trainer", "callbacks", "checkpoints"]:
                path = LIBRARY + f"training/{room}/a.cpp"
                files = {path: "\n" + line + "\n", LIBRARY + "training/ranks/a.hpp": "#pragma once\n"}
                self.expect(files, path + ":2", "names ranks: use the ProcessGroup; at most 0")
        self.expect_ratchet(files, "files that name ranks", "training/checkpoints/a.cpp", 1, 0, path + ":2")

    def test_no_ranks(self):
        text = "// of all ranks\nint rank = 0;\n"
        self.expect_nothing({LIBRARY + f"{folder}/a.cpp": text for folder in
                             ["training/ranks", "training/step", "distributed", "ops"]})
        self.expect_nothing({LIBRARY + "training/loops/a.cpp": "bool on_all_ranks() override;\nFrank frank_stranks;\n",
                             "tests/training/a.cpp": text})


class Exceptions(unittest.TestCase):
    def test_names_of_rules(self):
        self.assertEqual(set(EXCEPTIONS), {rule.name for rule in RULES})


if __name__ == "__main__":
    unittest.main()
