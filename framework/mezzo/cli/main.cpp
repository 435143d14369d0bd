// The `mezzo` command.
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <mezzo/core/version.hpp>
#include <mezzo/report/environment.hpp>
#include <mezzo/report/hardware.hpp>

namespace {

constexpr int usage_error = 2;

/// Runs the subcommand; returns the exit code.
int run(int argc, char** argv) {
  CLI::App app("mezzo: a Keras-like training framework in C++", "mezzo");
  app.set_version_flag("--version", std::string("mezzo ") + mezzo::version());
  app.require_subcommand(0, 1);
  const CLI::App* env =
      app.add_subcommand("env", "Show how mezzo uses threads and memory here, and each setting's source");
  const CLI::App* hardware = app.add_subcommand("hardware", "Show this machine's cores and its speed in each dtype");
  app.add_subcommand("help", "Show this help");
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return fmt::format("mezzo: {}\n\n{}", error.what(), failed->help());
  });
  const std::string help = app.help();  // after parsing, it would be that of the subcommand
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // also thrown for --help and --version
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (*env) {
    fmt::print("{}", mezzo::environment());
  } else if (*hardware) {
    fmt::print("{}", mezzo::hardware().text());
  } else {
    fmt::print("{}", help);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mezzo: {}\n", error.what());
    return 1;
  }
}
