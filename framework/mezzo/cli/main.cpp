// The `mezzo` command.
#include <cstdio>
#include <exception>
#include <string>

#include <mezzo/report/environment.hpp>
#include <mezzo/report/hardware.hpp>

namespace {

constexpr const char* usage =
    "mezzo env        how it uses threads and memory here, and what sets that\n"
    "mezzo hardware   what this machine computes with, and how fast in each dtype\n";

int run(const std::string& command) {
  if (command == "hardware") {
    std::fputs(mezzo::hardware().text().c_str(), stdout);
    return 0;
  }
  if (command == "env") {
    std::fputs(mezzo::environment().c_str(), stdout);
    return 0;
  }
  if (command == "help" || command == "--help" || command == "-h") {
    std::fputs(usage, stdout);
    return 0;
  }
  std::fprintf(stderr, "mezzo: no command \"%s\"; there are:\n%s", command.c_str(), usage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::string command = argc < 2 ? "help" : argv[1];
    for (int i = 2; i < argc; ++i) command += std::string(" ") + argv[i];
    return run(command);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mezzo: %s\n", error.what());
    return 1;
  }
}
