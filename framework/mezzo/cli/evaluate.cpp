#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/saved_run.hpp>

namespace mezzo::cli {

void add_evaluate(CLI::App& app, const Overrides& overrides) {
  CLI::App* command = app.add_subcommand("evaluate", "Print loss and metrics of a saved model on data");
  const auto options = std::make_shared<SavedRunOptions>();
  add_run_options(*command, *options);
  command->callback([options, &overrides] {
    SavedRun run = open_run(*options, overrides);
    const Logs logs = run.model->evaluate(run.loader, {.verbose = 0});
    const std::string precision = run.precision.empty() ? "" : ", precision " + run.precision;
    fmt::print("samples {} ({}){}\n", run.loader.samples(), run.part, precision);
    for (const auto& [name, number] : logs) fmt::print("{} {:.6g}\n", name, number);
  });
}

}  // namespace mezzo::cli
