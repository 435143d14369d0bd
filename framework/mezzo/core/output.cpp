#include <mezzo/core/output.hpp>

#include <unistd.h>

#include <iostream>
#include <mutex>
#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

struct Sink {
  std::recursive_mutex mutex;  // recursive, because a sink may call warn()
  Output output;
  bool open_line = false;  // true if the last text did not end its line (a progress bar)
};

Sink& sink() {
  static Sink* const forever = new Sink;  // never destroyed: threads may write during static destruction
  return *forever;
}

}  // namespace

void set_output(Output output) {
  const std::lock_guard lock(sink().mutex);
  sink().output = std::move(output);
  sink().open_line = false;
}

void detail::write_output(const std::string& text) {
  const std::lock_guard lock(sink().mutex);
  if (!text.empty()) sink().open_line = text.back() != '\n';
  const Output output = sink().output;  // a copy, because the function may call set_output()
  if (output) {
    output(text);
  } else {
    std::cerr << text << std::flush;
  }
}

void detail::write_line(const std::string& text) {
  const std::lock_guard lock(sink().mutex);
  detail::write_output(fmt::format("{}{}\n", sink().open_line ? "\n" : "", text));
}

bool detail::output_is_terminal() {
  const std::lock_guard lock(sink().mutex);
  return !sink().output && ::isatty(STDERR_FILENO) == 1;
}

void detail::warn(const std::string& text) {
  const std::lock_guard lock(sink().mutex);
  detail::write_line(fmt::format("mezzo: warning: {}", detail::one_line(text)));
}

}  // namespace mezzo
