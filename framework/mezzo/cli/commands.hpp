#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace mezzo::cli {

/// Options `--section.member value` of a configuration, taken out of the command line, in order.
using Overrides = std::vector<std::string>;

/// @name Subcommands; each file adds one, whose callback does the work and throws for a failure
/// @{
void add_bench(CLI::App& app, const Overrides& overrides);
void add_completion(CLI::App& app);
void add_convert(CLI::App& app);
void add_doctor(CLI::App& app);
void add_evaluate(CLI::App& app, const Overrides& overrides);
void add_inspect(CLI::App& app);
void add_notebook(CLI::App& app);
void add_predict(CLI::App& app, const Overrides& overrides);
void add_train(CLI::App& app, const Overrides& overrides);
/// @}

}  // namespace mezzo::cli
