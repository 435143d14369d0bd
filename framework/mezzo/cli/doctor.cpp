#include <mezzo/report/doctor.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <mezzo/cli/commands.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/version.hpp>

namespace mezzo::cli {

void add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand("doctor", "Check this machine and installation; say what to do");
  command->footer("Exit code 1 if there is a problem.");
  command->callback([] {
    fmt::print("mezzo {}\n", version());
    int problems = 0;
    for (const Finding& finding : doctor()) {
      fmt::print("{:<7} {}: {}\n", finding.problem ? "PROBLEM" : "ok", finding.subject, finding.text);
      if (!finding.cure.empty()) fmt::print("        -> {}\n", finding.cure);
      problems += finding.problem ? 1 : 0;
    }
    if (problems > 0) throw Error(fmt::format("doctor found {} problem{}", problems, problems == 1 ? "" : "s"));
  });
}

}  // namespace mezzo::cli
