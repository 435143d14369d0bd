#!/usr/bin/env python3
"""Shows that check_symbols.py finds each kind of fault in small libraries, and nothing in a good one."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_symbols import check_symbols, source_of  # noqa: E402
from declarations import declarations  # noqa: E402
from mangled import qualified_name  # noqa: E402

COMPILER = os.environ.get("CXX") or next(filter(None, map(shutil.which, ["c++", "g++", "clang++", "clang++-14"])), None)
LIBRARY = "framework/mezzo/"
SHAPE = "#pragma once\nnamespace mezzo {\nint size(int x);\nclass Shape {\n public:\n  int rank() const;\n" \
        "  int axes() const;\n  int inlined() const { return 1; }\n};\n}\n"


def compile_library(root, files):
    """Writes the files, compiles the sources as CMake does, and lists the objects in objects.txt."""
    objects = []
    for name, text in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in (name for name in files if name.endswith(".cpp")):
        tail = name[len("framework/"):] if name.startswith("framework/") else f"__/{name}"
        target = Path(root) / "build/framework/CMakeFiles/mezzo_objects.dir" / f"{tail}.o"
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([COMPILER, "-std=c++17", "-c", "-I", f"{root}/framework", "-I", f"{root}/models",
                        Path(root) / name, "-o", target], check=True)
        objects.append(str(target))
    (Path(root) / "objects.txt").write_text("\n".join(objects))
    return objects


def findings(files):
    with tempfile.TemporaryDirectory() as root:
        return check_symbols(root, compile_library(root, files))


@unittest.skipUnless(COMPILER and shutil.which("nm") and shutil.which("c++filt"), "needs a compiler and binutils")
class CheckSymbols(unittest.TestCase):
    def expect(self, files, *expected):
        found = findings(files)
        self.assertEqual([path for path, _ in found], [path for path, _ in expected], found)
        for (_, text), (_, rule) in zip(found, expected):
            self.assertIn(rule, text)

    def test_good_library(self):
        self.expect({
            LIBRARY + "core/shape.hpp": SHAPE,
            LIBRARY + "core/shape.cpp": "#include <mezzo/core/shape.hpp>\nnamespace mezzo {\nint size(int x) {"
                                        " return x; }\nint Shape::rank() const { return 2; }\n}\n",
            LIBRARY + "core/axes.cpp": "#include <mezzo/core/shape.hpp>\nnamespace mezzo {\n"
                                       "int Shape::axes() const { return size(1); }\n}\n",
            LIBRARY + "graph/value.cpp": "#include <mezzo/core/shape.hpp>\nnamespace mezzo {\n"
                                         "int value() { return size(Shape().inlined()); }\n"
                                         "namespace { int rank(int x) { return x; } }\n"
                                         "int other() { return rank(1); }\n}\n",
            LIBRARY + "registration.cpp": "namespace mezzo { int value(); int all() { return value(); } }\n",
            "models/mezzo/models/cnn.cpp": "namespace mezzo { int value(); int cnn() { return value(); } }\n",
        })

    def test_upward(self):
        user = "namespace mezzo { int above(int); int below() { return above(1); } }\n"
        definition = "namespace mezzo { int above(int x) { return x; } }\n"
        for low, high, name in [("core/a.cpp", LIBRARY + "graph/b.cpp", "graph"),
                                ("backends/reference/a.cpp", LIBRARY + "backends/xsimd/winograd/b.cpp",
                                 "backends/xsimd"),
                                ("training/trainer/a.cpp", "models/mezzo/models/b.cpp", "models"),
                                ("training/step/a.cpp", LIBRARY + "training/loops/b.cpp", "training/loops"),
                                ("ops/a.cpp", LIBRARY + "registration.cpp", "registration.cpp")]:
            self.expect({LIBRARY + low: user, high: definition}, (LIBRARY + low, "needs mezzo::above(int)"))
            self.expect({LIBRARY + low: user, high: definition}, (LIBRARY + low, name + " defines"))

    def test_upward_variable_and_vtable(self):
        self.expect({LIBRARY + "core/a.cpp": "namespace mezzo { extern int count; int get() { return count; } }\n",
                     LIBRARY + "graph/b.cpp": "namespace mezzo { int count = 1; }\n"},
                    (LIBRARY + "core/a.cpp", "needs mezzo::count"))
        base = "namespace mezzo {\nstruct Node { virtual ~Node(); };\n"
        found = findings({LIBRARY + "core/a.cpp": base + "Node make() { return {}; }\n}\n",
                          LIBRARY + "graph/b.cpp": base + "Node::~Node() = default;\n}\n"})
        self.assertTrue(any("vtable for mezzo::Node" in rule for _, rule in found), found)

    def test_weak_symbols_are_no_evidence(self):
        inline = "namespace mezzo { inline int twice(int x) { return 2 * x; } }\n"
        template = "namespace mezzo { template <class T> T half(T x) { return x / 2; } }\n"
        self.expect({LIBRARY + "graph/a.hpp": "#pragma once\n" + inline + template,
                     LIBRARY + "core/a.cpp": inline + template + "int a() { return mezzo::twice(mezzo::half(2)); }\n",
                     LIBRARY + "graph/b.cpp": inline + template + "int b() { return mezzo::twice(mezzo::half(2)); }\n"
                                              "template int mezzo::half<int>(int);\n"})

    def test_split_class(self):
        declaration = "namespace mezzo { struct Model { int fit(); int summary(); }; }\n"
        self.expect({LIBRARY + "training/model/a.cpp": declaration + "int mezzo::Model::fit() { return 1; }\n",
                     LIBRARY + "report/b.cpp": declaration + "int mezzo::Model::summary() { return 1; }\n"},
                    (LIBRARY + "report/b.cpp", "split: mezzo::Model is implemented in report, training/model"))

    def test_split_nested_class(self):
        declaration = "namespace mezzo { struct Model { int fit(); struct Part { Part(); }; }; }\n"
        self.expect({LIBRARY + "training/model/a.cpp": declaration + "int mezzo::Model::fit() { return 1; }\n",
                     LIBRARY + "layers/b.cpp": declaration + "mezzo::Model::Part::Part() {}\n"},
                    (LIBRARY + "layers/b.cpp", "split: mezzo::Model is implemented in layers, training/model"))

    def test_class_split_between_rooms(self):
        declaration = "namespace mezzo { struct Model { int fit(); int summary(); }; }\n"
        self.expect({LIBRARY + "training/model/a.cpp": declaration + "int mezzo::Model::fit() { return 1; }\n",
                     LIBRARY + "training/loops/b.cpp": declaration + "int mezzo::Model::summary() { return 1; }\n"},
                    (LIBRARY + "training/loops/b.cpp", "mezzo::Model is implemented in training/loops, training/model"))

    def test_function_defined_elsewhere(self):
        self.expect({LIBRARY + "core/shape.hpp": SHAPE,
                     LIBRARY + "graph/a.cpp": "#include <mezzo/core/shape.hpp>\n"
                                              "int mezzo::size(int x) { return x; }\n"},
                    (LIBRARY + "graph/a.cpp", f"elsewhere: mezzo::size is declared in {LIBRARY}core/shape.hpp"))

    def test_member_defined_elsewhere(self):
        self.expect({LIBRARY + "core/shape.hpp": SHAPE,
                     LIBRARY + "core/a.cpp": "int unused() { return 1; }\n",
                     "models/mezzo/models/b.cpp": "#include <mezzo/core/shape.hpp>\n"
                                                  "int mezzo::Shape::rank() const { return 1; }\n"},
                    ("models/mezzo/models/b.cpp", "elsewhere: mezzo::Shape::rank is declared in"))

    def test_operator_defined_elsewhere(self):
        header = "#pragma once\nnamespace mezzo {\nstruct A {};\nA operator+(const A& a, const A& b);\n}\n"
        self.expect({LIBRARY + "core/a.hpp": header,
                     LIBRARY + "ops/a.cpp": "#include <mezzo/core/a.hpp>\n"
                                            "mezzo::A mezzo::operator+(const A& a, const A&) { return a; }\n"},
                    (LIBRARY + "ops/a.cpp", "elsewhere: mezzo::operator+"))

    def test_batches(self):
        def batch(root, *names):
            unit = Path(root) / "build/framework/CMakeFiles/mezzo_objects.dir/Unity/unity_mezzo_0_cxx.cxx"
            unit.parent.mkdir(parents=True)
            unit.write_text("".join(f'#include "{root}/{LIBRARY}{name}"\n' for name in names))
            subprocess.run([COMPILER, "-std=c++17", "-c", "-I", f"{root}/framework", unit, "-o", f"{unit}.o"],
                           check=True)
            return f"{unit}.o"

        files = {LIBRARY + "core/shape.hpp": SHAPE,
                 LIBRARY + "ops/a.cpp": "#include <mezzo/core/shape.hpp>\nint mezzo::size(int x) { return x; }\n",
                 LIBRARY + "ops/b.cpp": "int b() { return 1; }\n", LIBRARY + "core/c.cpp": "int c() { return 1; }\n"}
        with tempfile.TemporaryDirectory() as root:
            compile_library(root, files)
            found = check_symbols(root, [batch(root, "ops/a.cpp", "ops/b.cpp")])
        self.assertEqual([path for path, _ in found], [LIBRARY + "ops/a.cpp", LIBRARY + "ops/b.cpp"])
        with tempfile.TemporaryDirectory() as root:
            compile_library(root, files)
            mixed = batch(root, "ops/b.cpp", "core/c.cpp")
            found = check_symbols(root, [mixed])
        self.assertEqual(found, [(mixed, "an object without source files of one folder of the tree")])

    def test_stale_object(self):
        with tempfile.TemporaryDirectory() as root:
            objects = compile_library(root, {LIBRARY + "core/a.cpp": "int a() { return 1; }\n"})
            (Path(root) / LIBRARY / "core/a.cpp").unlink()
            found = check_symbols(root, objects)
        self.assertEqual(found, [(objects[0], "an object without source files of one folder of the tree")])

    def test_exit_code(self):
        def run(files):
            with tempfile.TemporaryDirectory() as root:
                compile_library(root, files)
                command = [sys.executable, str(Path(__file__).parent / "check_symbols.py"), root, f"{root}/objects.txt"]
                return subprocess.run(command, capture_output=True, check=False).returncode

        good = {LIBRARY + "core/a.cpp": "namespace mezzo { int a() { return 1; } }\n"}
        bad = {LIBRARY + "core/a.cpp": "namespace mezzo { int b(); int a() { return b(); } }\n",
               LIBRARY + "ops/b.cpp": "namespace mezzo { int b() { return 1; } }\n"}
        self.assertEqual([run(good), run(bad), run({})], [0, 1, 1])


class Paths(unittest.TestCase):
    def test_source_of(self):
        with tempfile.TemporaryDirectory() as root:
            for name in [LIBRARY + "core/a.cpp", "models/mezzo/models/bert.cpp"]:
                (Path(root) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(root) / name).touch()
            folder = "mezzo/build/framework/CMakeFiles/mezzo_objects.dir"
            self.assertEqual(source_of(root, f"{folder}/mezzo/core/a.cpp.o"), LIBRARY + "core/a.cpp")
            self.assertEqual(source_of(root, f"{folder}/__/models/mezzo/models/bert.cpp.o"),
                             "models/mezzo/models/bert.cpp")
            self.assertIsNone(source_of(root, f"{folder}/mezzo/core/b.cpp.o"))


class Names(unittest.TestCase):
    def test_qualified_name(self):
        for symbol, name in [("_ZN5mezzo5Shape4sizeEv", "mezzo::Shape::size"),
                             ("_ZNK5mezzo5Shape4rankEv", "mezzo::Shape::rank"),
                             ("_ZN5mezzo5ShapeC1Ei", "mezzo::Shape::Shape"),
                             ("_ZN5mezzo5ShapeD2Ev", "mezzo::Shape::~Shape"),
                             ("_ZN5mezzo4nameB5cxx11Ev", "mezzo::name"),
                             ("_ZN5mezzoplERKNS_5ValueES2_", "mezzo::operator+"),
                             ("_ZNK5mezzo5ValuecvbEv", "mezzo::Value::operator"),
                             ("_ZN5mezzo6detail5tableE", "mezzo::detail::table")]:
            self.assertEqual("::".join(qualified_name(symbol)), name)
        for symbol in ["_ZN5mezzo4castIfEEvT_", "_ZTVN5mezzo5ShapeE", "_Z4mainv", "main", "_ZNSt6vectorIiE4sizeEv"]:
            self.assertIsNone(qualified_name(symbol))

    def test_declarations(self):
        found = declarations("""
            #define MACRO(x) int made(x) \\
              { return x; }
            // int comment();
            namespace mezzo {
            class Known;
            inline namespace detail { std::string text(const std::vector<int>& x = {}, char c = '(');  /* int no(); */ }
            template <class T, class = std::enable_if_t<(sizeof(T) > 4)>>
            constexpr T twice(T x) { return call(x); }
            struct MEZZO_API Shape final : public Base<int> { int member(); friend int friendly(Shape); };
            [[nodiscard]] MEZZO_API bool good(int x) noexcept;
            enum class Kind { a, b };
            using Function = void (*)(int);
            extern const int count;
            inline constexpr auto value = call(3);
            Value operator-(const Value& x);
            bool operator==(const Value& a, const Value& b);
            std::ostream& operator<<(std::ostream& out, const Shape& shape);
            template <> struct Special<int> {};
            extern "C" { void plain(int); }
            }
            """)
        self.assertEqual(found.functions, {("mezzo::detail", "text"), ("mezzo", "twice"), ("mezzo", "good"),
                                           ("mezzo", "operator-"), ("mezzo", "operator=="), ("mezzo", "operator<<"),
                                           ("mezzo", "plain")})
        self.assertEqual(found.classes, {("mezzo", "Shape")})
        self.assertEqual(found.namespaces, {"mezzo", "mezzo::detail"})


if __name__ == "__main__":
    unittest.main()
