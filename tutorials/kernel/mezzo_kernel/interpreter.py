"""One session of Cling, as C++17: Interpreter().run(code)."""

import os
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", message=r"\s*This distribution")
import ROOT  # noqa: E402

SUPPORT = r"""
#include <csignal>
#include <cstdio>
#include <cxxabi.h>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <typeinfo>

namespace mezzo {
void interrupt_training() noexcept;
using Output = std::function<void(const std::string& text)>;
void set_output(Output output);
}  // namespace mezzo

namespace mezzo_kernel {

struct Result {
  int code = 0;  // 0: done, 1: exception, 2: does not compile
  std::string kind, text;
};

inline void on_interrupt(int) { mezzo::interrupt_training(); }

// SIGINT ends a training while the cell runs. Python's handler would wait until the cell has ended.
struct Interrupts {
  Interrupts() {
    struct sigaction ours {};
    ours.sa_handler = on_interrupt;
    ours.sa_flags = SA_RESTART;
    sigaction(SIGINT, &ours, &before);
  }
  ~Interrupts() { sigaction(SIGINT, &before, nullptr); }
  struct sigaction before {};
};

// Progress goes to stdout, since JupyterLab shows stderr in red. Warnings stay there.
void show_progress() {
  mezzo::set_output([](const std::string& text) {
    if (text.find("mezzo: warning: ") == std::string::npos) {
      std::cout << text << std::flush;
      return;
    }
    const std::size_t start = text[0] == '\n' ? 1 : 0;  // ends an open line of progress
    std::cout << text.substr(0, start) << std::flush;
    std::cerr << text.substr(start) << std::flush;
  });
}

Result run(const char* code) {
  const Interrupts interrupts;
  Result result;
  try {
    TInterpreter::EErrorCode error = TInterpreter::kNoError;
    gInterpreter->ProcessLine(code, &error);
    if (error != TInterpreter::kNoError) {
      result.code = 2;
      gInterpreter->ProcessLine(".@");  // ends an input that Cling takes for incomplete
    }
  } catch (const std::exception& e) {
    char* name = abi::__cxa_demangle(typeid(e).name(), nullptr, nullptr, nullptr);
    result = {1, name == nullptr ? typeid(e).name() : name, e.what()};
    std::free(name);
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    char* name = type == nullptr ? nullptr : abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr);
    result = {1, name == nullptr ? "unknown" : name, "an exception that is no std::exception"};
    std::free(name);
  }
  std::cout << std::flush;
  std::cerr << std::flush;
  std::fflush(nullptr);
  return result;
}

}  // namespace mezzo_kernel
"""


class Interpreter:
    """MEZZO_PREFIX is where mezzo is installed, MEZZO_LIBDIR the folder of its library, PREFIX/lib by default."""

    def __init__(self):
        prefix = os.environ.get("MEZZO_PREFIX", "/usr/local")
        libraries = os.environ.get("MEZZO_LIBDIR", f"{prefix}/lib")
        ROOT.gROOT.SetBatch(True)
        for folder in (f"{prefix}/include", str(Path(__file__).parent / "include")):
            ROOT.gInterpreter.AddIncludePath(folder)
        ROOT.gInterpreter.ProcessLine(f'#pragma cling add_library_path("{libraries}")')
        if ROOT.gSystem.Load(f"{libraries}/libmezzo.so") < 0:
            raise RuntimeError(f"{libraries}/libmezzo.so can't be loaded; MEZZO_PREFIX must be where mezzo is installed")
        if not ROOT.gInterpreter.Declare(SUPPORT):
            raise RuntimeError("the kernel's own code does not compile")
        ROOT.mezzo_kernel.show_progress()
        # A pipe would hold back the text of std::cout.
        ROOT.gInterpreter.ProcessLine("setvbuf(stdout, nullptr, _IOLBF, 0);")
        self.run_code = ROOT.mezzo_kernel.run
        self.run_code.__release_gil__ = True  # other threads send the output meanwhile

    def run(self, code):
        """(code, kind, text): code 0 if it was done, 1 for an exception of the given kind, 2 if it doesn't compile."""
        result = self.run_code(code)
        return int(result.code), str(result.kind), str(result.text)
