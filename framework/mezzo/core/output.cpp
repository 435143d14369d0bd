#include <mezzo/core/output.hpp>

#include <unistd.h>

#include <iostream>
#include <mutex>
#include <utility>

namespace mezzo {
namespace {

struct Sink {
  std::recursive_mutex mutex;  // recursive: a sink may itself warn
  Output output;
  bool open_line = false;  // what was written last, a progress bar say, did not end its line
};

Sink& sink() {
  static Sink* const forever = new Sink;  // threads may write while statics are torn down
  return *forever;
}

}  // namespace

void set_output(Output output) {
  const std::lock_guard lock(sink().mutex);
  sink().output = std::move(output);
  sink().open_line = false;
}

void write_output(const std::string& text) {
  const std::lock_guard lock(sink().mutex);
  if (!text.empty()) sink().open_line = text.back() != '\n';
  const Output output = sink().output;  // a copy, since the sink may replace itself
  if (output) {
    output(text);
  } else {
    std::cerr << text << std::flush;
  }
}

bool output_is_terminal() {
  const std::lock_guard lock(sink().mutex);
  return !sink().output && ::isatty(STDERR_FILENO) == 1;
}

void warn(const std::string& text) {
  const std::lock_guard lock(sink().mutex);
  write_output((sink().open_line ? "\n" : "") + ("mezzo: warning: " + text + "\n"));
}

}  // namespace mezzo
