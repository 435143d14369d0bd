// The `mezzo` command.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/config.hpp>
#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/onnx_part.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/version.hpp>
#include <mezzo/report/environment.hpp>
#include <mezzo/report/hardware.hpp>

namespace mezzo::cli {
namespace {

const std::vector<std::string> with_overrides{"train", "evaluate", "predict", "bench"};

std::string name_of_option(const std::string& argument) { return argument.substr(0, argument.find('=')); }

/// Moves options of a configuration, with their values, out of the arguments.
Overrides take_overrides(std::vector<std::string>& arguments) {
  Overrides out;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = name_of_option(arguments[i]);
    const bool section = std::find(section_names().begin(), section_names().end(),
                                   name.substr(std::min<std::size_t>(2, name.size()))) != section_names().end();
    if (name.rfind("--", 0) != 0 || (name.find('.') == std::string::npos && !section)) {
      rest.push_back(arguments[i]);
      continue;
    }
    out.push_back(arguments[i]);
    const bool has_value = name.size() < arguments[i].size();
    if (!has_value && i + 1 < arguments.size() && arguments[i + 1].rfind("--", 0) != 0) out.push_back(arguments[++i]);
  }
  arguments = std::move(rest);
  return out;
}

/// A UsageError with the nearest name for an unknown subcommand or option.
void check_names(const CLI::App& app, const std::vector<std::string>& arguments, const Overrides& overrides) {
  if (arguments.empty()) return;
  const CLI::App* command = &app;
  if (arguments[0].rfind('-', 0) != 0) {
    std::vector<std::string> names;
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(one->get_name());
    if (std::find(names.begin(), names.end(), arguments[0]) == names.end()) {
      fail_usage("unknown command \"{}\"{}; `mezzo help` lists all", arguments[0],
                 detail::nearest_text(arguments[0], names));
    }
    command = app.get_subcommand(arguments[0]);
  }
  const std::string title = command == &app ? "mezzo" : "mezzo " + command->get_name();
  if (command != &app && arguments.size() > 1) {
    const auto named = [&](const CLI::App* one) { return one->get_name() == arguments[1]; };
    const std::vector<const CLI::App*> inner = command->get_subcommands(named);
    if (!inner.empty()) command = inner.front();
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  const auto check = [&](const std::string& argument) {
    const std::string name = name_of_option(argument);
    if (name.size() < 3 || name.rfind("--", 0) != 0) return;
    const std::string bare = name.substr(2);
    if (std::find(names.begin(), names.end(), bare) != names.end()) return;
    fail_usage("{}: unknown option {}{}; `{} --help` lists all", title, name, nearest_option(bare, names), title);
  };
  for (const std::string& argument : arguments) check(argument);
  const bool takes =
      std::find(with_overrides.begin(), with_overrides.end(), command->get_name()) != with_overrides.end();
  if (!takes && !overrides.empty()) check(overrides.front());
}

/// Runs the subcommand; returns the exit code.
int run(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const Overrides overrides = take_overrides(arguments);
  if (arguments.size() == 2 && arguments[0] == "help") arguments = {arguments[1], "--help"};
  register_onnx();
  CLI::App app("mezzo: a Keras-like training framework in C++", "mezzo");
  app.set_version_flag("--version", std::string("mezzo ") + version());
  app.require_subcommand(0, 1);
  add_train(app, overrides);
  add_evaluate(app, overrides);
  add_predict(app, overrides);
  add_inspect(app);
  add_convert(app);
  add_bench(app, overrides);
  add_doctor(app);
  add_notebook(app);
  add_completion(app);
  app.add_subcommand("env", "Show how mezzo uses threads and memory here, and each setting's source")->callback([] {
    fmt::print("{}", environment());
  });
  app.add_subcommand("hardware", "Show this machine's cores and its speed in each dtype")->callback([] {
    fmt::print("{}", hardware().text());
  });
  const CLI::App* const help_command = app.add_subcommand("help", "Show this help");
  app.footer("Exit codes: 0 success, 1 the work failed, 2 wrong arguments or configuration, 130 stopped by Ctrl-C");
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return fmt::format("mezzo: {}\n\n{}", error.what(), failed->help());
  });
  check_names(app, arguments, overrides);
  const std::string help = app.help();  // after parsing, it would be that of the subcommand
  try {
    std::reverse(arguments.begin(), arguments.end());  // as parse() takes them
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {  // also thrown for --help and --version
    return app.exit(error) == 0 ? success : wrong_use;
  }
  if (*help_command || app.get_subcommands().empty()) fmt::print("{}", help);
  return success;
}

/// fmt::print would throw if the text can't be written.
void print_error(const std::string& text) { std::fputs(("mezzo: " + text + "\n").c_str(), stderr); }

}  // namespace
}  // namespace mezzo::cli

int main(int argc, char** argv) {
  using namespace mezzo::cli;
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    print_error("the output can't be written");
  } catch (const UsageError& error) {
    print_error(error.what());
    return wrong_use;
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return failure;
}
