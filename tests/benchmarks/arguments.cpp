#include "arguments.hpp"

#include <vector>

#include <mezzo/core/error.hpp>

namespace mezzo_bench {
namespace {

constexpr const char* usage =
    "usage: mezzo_bench WORKLOAD POLICY [--seconds S] [--threads N] [--split-masters] [--state-dtype DTYPE] [--remat] "
    "[--profile]";

double number(const std::string& option, const std::string& text, double least) {
  std::size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != text.size() || !(value >= least)) {
    throw mezzo::ValueError(option + " takes a number; got \"" + text + "\"; " + usage);
  }
  return value;
}

}  // namespace

Arguments parse_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--seconds") {
      arguments.seconds = number(word, next(), 0);
    } else if (word == "--threads") {
      arguments.threads = static_cast<int>(number(word, next(), 1));
    } else if (word == "--split-masters") {
      arguments.split_masters = true;
    } else if (word == "--state-dtype") {
      arguments.state_dtype = next();
    } else if (word == "--remat") {
      arguments.remat = true;
    } else if (word == "--profile") {
      arguments.profile = true;
    } else if (word.rfind("--", 0) == 0) {
      throw mezzo::ValueError("no option " + word + "; " + usage);
    } else {
      names.push_back(word);
    }
  }
  if (names.size() != 2) throw mezzo::ValueError(usage);
  arguments.workload = names[0];
  arguments.policy = names[1];
  return arguments;
}

}  // namespace mezzo_bench
