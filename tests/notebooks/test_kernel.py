#!/usr/bin/env python3
"""Shows that the kernel runs cells as Jupyter expects: test_kernel.py KERNELS, the folder with kernels/mezzo/kernel.json."""

import os
import sys
import threading
import unittest

from jupyter_client.manager import KernelManager

TRAINING = """
Sequential model({Dense({.units = 8}), Dense({.units = 1})});
model.compile({.optimizer = "adam", .loss = "mse"});
Tensor x({64, 1}, std::vector<float>(64));
"""


class KernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manager = KernelManager(kernel_name="mezzo")
        cls.manager.start_kernel()
        cls.client = cls.manager.client()
        cls.client.start_channels()
        cls.client.wait_for_ready(timeout=120)

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel(now=True)

    def run_cell(self, code, on_output=lambda message: None):
        """(reply, [(message type, content), ...]) without status messages."""
        messages = []

        def hook(message):
            if message["msg_type"] not in ("status", "execute_input"):
                messages.append((message["msg_type"], message["content"]))
                on_output(message)

        reply = self.client.execute_interactive(code, timeout=180, output_hook=hook)["content"]
        return reply, messages

    def text_of(self, messages, name):
        return "".join(content["text"] for kind, content in messages if kind == "stream" and content["name"] == name)

    def result(self, code):
        reply, messages = self.run_cell(code)
        self.assertEqual(reply["status"], "ok", messages)
        self.assertEqual([kind for kind, _ in messages], ["execute_result"], messages)
        self.assertEqual(messages[0][1]["execution_count"], reply["execution_count"])
        return messages[0][1]["data"]

    def silent(self, code):
        reply, messages = self.run_cell(code)
        self.assertEqual((reply["status"], messages), ("ok", []))

    def test_state(self):
        self.silent("int one = 1;")
        self.silent("int twice(int x) { return 2 * x; }")
        self.silent("void nothing() {}")
        self.silent("nothing()")
        self.silent("one += 1;  // 3")
        self.assertEqual(self.result("twice(one)"), {"text/plain": "4"})
        self.assertEqual(self.result('std::string("a;b") + "}"  /* text */\n'), {"text/plain": "a;b}"})
        self.assertEqual(self.result("std::vector<int> v{1, 2};\nv"), {"text/plain": "{1, 2}"})

    def test_constants(self):
        self.silent("struct Number { int value; Number(int n) : value(n) {} int get() const { return value; } };")
        self.assertEqual(self.result("Number n(3);\nconst int m = n.get();\nNumber k(m + 1);\nNumber const q(k.get());\n"
                                     "q.get() * 10 + m"), {"text/plain": "43"})
        self.assertEqual(self.result("#define SIX 6\nNumber a{SIX};  // one; two\n#include <array>\nNumber* const p = &a;\n"
                                     "const auto c = std::array<int, 2>{p->get(), 7};\nc[0] + c[1]"), {"text/plain": "13"})
        self.assertEqual(self.result("const char* word = std::getenv(\"PATH\");\nconst bool known = word != nullptr;\nknown"),
                         {"text/plain": "true"})
        self.silent("struct { int one; } const single{1};\nif (single.one == 1) {\n} else {\n  const int none = 0;\n}")
        self.silent("int filled = 2;\n#if 1\nstruct Held { const int held; };\n#endif")

    def test_structured_bindings(self):
        self.silent("#include <map>\n#include <tuple>\nstruct Both { int number; std::string word; };")
        self.assertEqual(self.result('auto [number, word] = Both{1, "b;"};  // [a, b]\nconst auto& [x, y] = std::pair{2, 3};\n'
                                     "number += 4;\nnumber * 100 + x * 10 + y"), {"text/plain": "523"})
        self.assertEqual(self.result("word"), {"text/plain": "b;"})
        self.assertEqual(self.result("int total = 0;\nfor (auto& [key, value] : std::map<int, int>{{1, 2}}) total += key + value;"
                                     "\ntotal"), {"text/plain": "3"})
        self.assertEqual(self.run_cell("auto [one, two] = std::tuple{1, 2, 3};")[0]["ename"], "CompileError")

    def test_exception(self):
        reply, messages = self.run_cell('std::cout << "before" << std::endl;\nthrow std::out_of_range("the reason");')
        self.assertEqual((reply["status"], reply["ename"], reply["evalue"]), ("error", "std::out_of_range", "the reason"))
        self.assertEqual([kind for kind, _ in messages], ["stream", "error"])
        self.assertIn("std::out_of_range\x1b[0m: the reason", messages[1][1]["traceback"][0])
        self.assertEqual(self.run_cell("throw 3;")[0]["ename"], "int")
        self.assertEqual(self.result("6 * 7"), {"text/plain": "42"})

    def test_compile_error(self):
        reply, messages = self.run_cell("int two = missing;")
        self.assertEqual(reply["ename"], "CompileError")
        self.assertIn("use of undeclared identifier 'missing'", reply["evalue"])
        self.assertIn("use of undeclared identifier 'missing'", self.text_of(messages, "stderr"))
        self.assertEqual(self.run_cell("if (true) {")[0]["status"], "error")
        self.assertEqual(self.result("6 * 7"), {"text/plain": "42"})

    def test_streaming(self):
        # The cell ends only when its first line was received, so the line must come while the cell runs.
        path = f"/tmp/mezzo_kernel_test_{os.getpid()}"
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))

        def on_output(message):
            if message["content"].get("text", "").startswith("first"):
                open(path, "w").close()

        reply, messages = self.run_cell(
            f'#include <unistd.h>\nstd::cout << "first\\n";\nfor (int i = 0; i < 1000 && access("{path}", F_OK) != 0; ++i) '
            f'usleep(20000);\nstd::cerr << (access("{path}", F_OK) == 0 ? "received" : "late");', on_output)
        self.assertEqual(reply["status"], "ok")
        self.assertEqual(self.text_of(messages, "stderr"), "received")

    def test_is_complete(self):
        for code, expected in [("f();", "complete"), ("int f() {", "incomplete"), ("/* a", "incomplete"), ("'{'", "complete")]:
            self.client.is_complete(code)
            while (reply := self.client.get_shell_msg(timeout=60))["msg_type"] != "is_complete_reply":
                pass
            self.assertEqual(reply["content"]["status"], expected, code)

    def test_mezzo(self):
        self.silent("#include <mezzo/mezzo.hpp>\n#include <mezzo/report/display/notebook.hpp>\nusing namespace mezzo;")
        self.assertEqual(self.result("Tensor({2}, std::vector<float>{1, 2})"), {"text/plain": "float32 (2,)\n[1, 2]"})
        _, messages = self.run_cell(
            'std::cout << "a";\nxcpp::display(ImageGrid(Tensor({1, 2, 2})));\nstd::cout << "b";')
        self.assertEqual([kind for kind, _ in messages], ["stream", "display_data", "stream"])
        self.assertEqual(sorted(messages[1][1]["data"]), ["image/png", "text/plain"])
        reply, _ = self.run_cell("Dense({.units = 0});")
        self.assertEqual((reply["ename"], reply["evalue"]), ("mezzo::ValueError", "[Dense] units must be at least 1; got 0"))
        self.assertIn("Sequential", self.client.complete("Sequ", reply=True, timeout=60)["content"]["matches"])

        # A training that would take hours; it is interrupted after its first epoch has ended.
        self.silent(TRAINING)

        def on_output(message):
            if message["msg_type"] == "stream" and not interrupted.is_set():
                interrupted.set()
                self.manager.interrupt_kernel()

        interrupted = threading.Event()
        reply, messages = self.run_cell("model.fit(x, x, {.epochs = 100000000});", on_output)
        self.assertEqual((reply["status"], reply["ename"]), ("error", "mezzo::Interrupted"))
        self.assertIn("Epoch 1/", self.text_of(messages, "stdout"))
        _, messages = self.run_cell("model.fit(x, x, {.epochs = 1, .validation_data = {x, x}, .validation_steps = 9});")
        self.assertIn("Epoch 1/1", self.text_of(messages, "stdout"))
        self.assertTrue(self.text_of(messages, "stderr").startswith("mezzo: warning: "))
        reply, _ = self.run_cell("model.fit(x, x, {.epochs = 2, .verbose = 0});")
        self.assertEqual(reply["status"], "ok")


if __name__ == "__main__":
    os.environ["JUPYTER_PATH"] = sys.argv.pop(1)
    unittest.main()
