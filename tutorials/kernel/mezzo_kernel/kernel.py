"""The kernel: MezzoKernel."""

from ipykernel.kernelbase import Kernel

from . import __version__
from .completion import Names
from .interpreter import Interpreter
from .output import Capture
from .source import expand_bindings, is_complete, split_constants, split_expression


class MezzoKernel(Kernel):
    implementation = "mezzo"
    implementation_version = __version__
    banner = "C++17 with mezzo, in Cling"
    language_info = {"name": "c++", "version": "17", "mimetype": "text/x-c++src", "codemirror_mode": "text/x-c++src",
                     "pygments_lexer": "cpp", "file_extension": ".cpp"}

    def __init__(self, **options):
        super().__init__(**options)
        self.parent_message, self.silent = {}, False
        self.names = Names()
        self.interpreter = Interpreter()
        self.capture = Capture(self.send)
        self.interpreter.run("#include <mezzo_kernel.hpp>")

    def send(self, kind, content):
        """Publishes an output of the cell; called by the threads that read it."""
        if self.silent:
            return
        if kind == "execute_result":
            content["execution_count"] = self.execution_count
        self.session.send(self.iopub_socket, kind, content, parent=self.parent_message, ident=self._topic(kind))

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        self.parent_message, self.silent = self.get_parent(), silent
        self.capture.begin()
        error = self.run(code)
        printed = self.capture.end()
        if error is None:
            self.names.add(code)
            return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        name, text = error
        if name == "CompileError":
            text = next((line for line in printed.splitlines() if "error:" in line), text)
        content = {"ename": name, "evalue": text, "traceback": [f"\x1b[31m{name}\x1b[0m: {text}"]}
        if not silent:
            self.send("error", dict(content))
        return {"status": "error", "execution_count": self.execution_count, **content}

    def run(self, code):
        """None, or (name, text) of the error."""
        statements, expression = split_expression(code)
        statements = expand_bindings(statements, self.execution_count)
        parts = split_constants(statements) if statements.strip() else []
        if expression:
            parts.append(f"::mezzo_kernel::show(({expression}, ::mezzo_kernel::End{{}}));")
        for part in parts:
            status, kind, text = self.interpreter.run(part)
            if status == 1:
                return kind, text
            if status == 2:
                return "CompileError", "the cell does not compile; the messages are above"
        return None

    def do_complete(self, code, cursor_pos):
        matches, length = self.names.matches(code, cursor_pos)
        return {"status": "ok", "matches": matches, "cursor_start": cursor_pos - length, "cursor_end": cursor_pos,
                "metadata": {}}

    def do_is_complete(self, code):
        return {"status": is_complete(code), "indent": ""}
