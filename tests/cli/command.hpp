#pragma once
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace mezzo_tests {

/// Output, errors included, and exit code of the `mezzo` command.
struct CommandRun {
  std::string text;
  int code = 0;
};

/// Runs the command through a shell. `before`: environment, or `cd folder;`.
inline CommandRun run_command(const std::string& arguments, const std::string& before = "") {
  const std::string line = before + " \"" MEZZO_COMMAND "\" " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(line.c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  CommandRun out;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) out.text += buffer.data();
  const int status = ::pclose(pipe);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return out;
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace mezzo_tests
