#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/config.hpp>
#include <mezzo/cli/saved_run.hpp>
#include <mezzo/cli/usage_error.hpp>

namespace mezzo::cli {
namespace {

struct BenchOptions : SavedRunOptions {
  std::vector<std::string> precisions{"32", "bf16-mixed"};
  int steps = 50;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Steps of training per second, all on one batch.
double rate_of(Model& model, const HostBatch& batch, int steps) {
  std::vector<Tensors::Entry> x, y;
  for (const detail::NamedTensor& field : batch.fields) {
    if (field.role == Role::weight) fail_usage("bench takes no data with sample weights");
    (field.role == Role::input ? x : y).emplace_back(field.name, field.tensor);
  }
  const auto arrays = [](const std::vector<Tensors::Entry>& entries) {
    return entries.size() == 1 ? Tensors(entries.front().second) : Tensors(entries);
  };
  const Tensors inputs = arrays(x), targets = arrays(y);
  for (int i = 0; i < 3; ++i) model.train_on_batch(inputs, targets);  // makes the plan
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) model.train_on_batch(inputs, targets);
  return steps / seconds_since(start);
}

void bench(BenchOptions options, const Overrides& overrides) {
  if (options.part.empty()) options.part = "train";
  for (const std::string& precision : options.precisions) policy_of(precision);  // all are right before the first runs
  for (const std::string& precision : options.precisions) {
    options.precision = precision;
    const SavedRun run = open_run(options, overrides);
    if (run.model->compile_options() == nullptr) fail_usage("the model must be compiled to be trained");
    std::vector<std::int64_t> first(
        static_cast<std::size_t>(std::min(run.loader.options().batch_size, run.loader.samples())));
    std::iota(first.begin(), first.end(), std::int64_t{0});
    const double rate = rate_of(*run.model, run.loader.dataset().gather(first), options.steps);
    if (precision == options.precisions.front()) {
      fmt::print("batches of {}\n{:<20} {:>10} {:>12}\n", first.size(), "precision", "steps/s", "samples/s");
    }
    fmt::print("{:<20} {:>10.1f} {:>12.0f}\n", precision, rate, rate * static_cast<double>(first.size()));
  }
}

}  // namespace

void add_bench(CLI::App& app, const Overrides& overrides) {
  CLI::App* command = app.add_subcommand("bench", "Measure training steps per second of a saved model");
  const auto options = std::make_shared<BenchOptions>();
  command->add_option("model", options->model, "Run folder of `mezzo train`, or a compiled model file")->required();
  command->add_option("--config", options->config, "Configuration whose section data is read; that of the run folder");
  command->add_option("--precision", options->precisions, "Policies to compare, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Steps to measure")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->footer("The file is not changed. Members of the section data are set by --data.MEMBER VALUE.");
  command->callback([options, &overrides] { bench(*options, overrides); });
}

}  // namespace mezzo::cli
