#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/cli/commands.hpp>

namespace mezzo::cli {
namespace {

std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> out;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

const std::vector<std::string> shells{"bash", "zsh", "fish"};

/// Options of a command, with its subcommands, or with the shells of `completion`.
std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> out = long_options(command);
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    out.push_back(inner->get_name());
  }
  if (command.get_name() == "completion") out.insert(out.end(), shells.begin(), shells.end());
  return out;
}

/// bash's function; zsh runs it with bashcompinit.
std::string bash_script(const CLI::App& app, const std::vector<const CLI::App*>& commands) {
  std::string names, cases;
  for (const CLI::App* command : commands) {
    names += command->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), fmt::join(words_of(*command), " "));
  }
  return fmt::format(
      "_mezzo() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}{}\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o default -F _mezzo mezzo\n",
      names, fmt::join(long_options(app), " "), cases);
}

std::string fish_script(const std::vector<const CLI::App*>& commands) {
  std::string out;
  for (const CLI::App* command : commands) {
    out += fmt::format("complete -c mezzo -n __fish_use_subcommand -a {} -d \"{}\"\n", command->get_name(),
                       command->get_description());
    for (const std::string& word : words_of(*command)) {
      const bool option = word.rfind("--", 0) == 0;
      out += fmt::format("complete -c mezzo -n \"__fish_seen_subcommand_from {}\" {} {}\n", command->get_name(),
                         option ? "-l" : "-a", option ? word.substr(2) : word);
    }
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script by which a shell completes commands and options");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember(shells));
  command->footer("bash, zsh: source <(mezzo completion bash); fish: mezzo completion fish | source");
  command->callback([shell, &app] {
    std::vector<const CLI::App*> commands;
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) commands.push_back(one);
    if (*shell == "fish") {
      fmt::print("{}", fish_script(commands));
    } else {
      fmt::print("{}{}", *shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "",
                 bash_script(app, commands));
    }
  });
}

}  // namespace mezzo::cli
