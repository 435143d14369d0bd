#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>

#include <mezzo/cli/catalogue_models.hpp>
#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/saved_run.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/error.hpp>

namespace mezzo::cli {
namespace {

struct BenchOptions : SavedRunOptions {
  std::vector<std::string> precisions{"32", "bf16-mixed"};
  int steps = 50;
  std::int64_t batch_size = 0;  ///< of a model of the catalogue; 0: its own
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Names of the models of the catalogue, for the help.
std::string footer() {
  std::vector<std::string> names;
  for (const CatalogueModel& one : catalogue_models()) names.push_back(one.name);
  return fmt::format("Models of the catalogue, which are measured with random data: {}.\n", fmt::join(names, ", "));
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

/// A model and its batch.
struct Subject {
  Any<Model> model;
  HostBatch batch;
};

/// A model of the catalogue that was called once, since its policy may depend on its weights.
Subject open_catalogue_model(const CatalogueModel& known, const BenchOptions& options) {
  const HostBatch batch = known.batch(options.batch_size > 0 ? options.batch_size : known.batch_size);
  const auto make = [&](const Policy& policy) {
    Any<Model> model = known.make(policy);
    model->predict(known.batch(1).fields.front().tensor);
    return model;
  };
  return {with_precision(options.precision, make), batch};
}

Subject open_saved_model(const BenchOptions& options, const Overrides& overrides) {
  const SavedRun run = open_run(options, overrides);
  if (run.model->compile_options() == nullptr) fail_usage("the model must be compiled to be trained");
  std::vector<std::int64_t> first(
      static_cast<std::size_t>(std::min(run.loader.options().batch_size, run.loader.samples())));
  std::iota(first.begin(), first.end(), std::int64_t{0});
  return {run.model, run.loader.dataset().gather(first)};
}

/// Model of the catalogue that the options mean; null for a saved one, which comes first.
const CatalogueModel* known_model(const BenchOptions& options, const Overrides& overrides) {
  std::error_code ignored;
  if (std::filesystem::exists(options.model, ignored)) {
    if (options.batch_size > 0) fail_usage("--batch_size is for models of the catalogue; set --data.batch_size");
    return nullptr;
  }
  const CatalogueModel* const known = find_catalogue_model(options.model);
  if (known == nullptr) {
    std::vector<std::string> names;
    for (const CatalogueModel& one : catalogue_models()) names.push_back(one.name);
    throw FileError(fmt::format("[model \"{}\"] no such file or directory; models of the catalogue: {}{}",
                                options.model, fmt::join(names, ", "), detail::nearest_text(options.model, names)));
  }
  if (!options.config.empty()) fail_usage("--config has no effect for a model of the catalogue: its data are random");
  if (!overrides.empty()) {
    fail_usage("{} has no effect for a model of the catalogue: its data are random", overrides.front());
  }
  return known;
}

void bench(BenchOptions options, const Overrides& overrides) {
  if (options.part.empty()) options.part = "train";
  const CatalogueModel* const known = known_model(options, overrides);
  for (const std::string& precision : options.precisions) precision_of(precision);  // all are right before the first
  for (const std::string& precision : options.precisions) {
    options.precision = precision;
    const Subject subject =
        known != nullptr ? open_catalogue_model(*known, options) : open_saved_model(options, overrides);
    const double rate = rate_of(*subject.model, subject.batch, options.steps);
    if (precision == options.precisions.front()) {
      fmt::print("batches of {}\n{:<20} {:>10} {:>12}\n", subject.batch.size, "precision", "steps/s", "samples/s");
    }
    const auto digits = [](double x) { return x < 10 ? 2 : x < 100 ? 1 : 0; };
    const double samples = rate * static_cast<double>(subject.batch.size);
    fmt::print("{:<20} {:>10.{}f} {:>12.{}f}\n", precision, rate, digits(rate), samples, digits(samples));
    std::fflush(stdout);
  }
}

}  // namespace

void add_bench(CLI::App& app, const Overrides& overrides) {
  CLI::App* command = app.add_subcommand("bench", "Measure training steps per second");
  const auto options = std::make_shared<BenchOptions>();
  command
      ->add_option("model", options->model,
                   "Run folder of `mezzo train`, a compiled model file, or a model of the catalogue")
      ->required();
  command->add_option("--config", options->config, "Configuration whose section data is read; that of the run folder");
  command->add_option("--precision", options->precisions, "Policies to compare, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Steps to measure")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--batch_size", options->batch_size, "Samples of a batch, for models of the catalogue")
      ->check(CLI::Range(1, 1000000));
  command->footer(
      footer() +
      "The file of a saved model is not changed. Members of the section data are set by --data.MEMBER VALUE.");
  command->callback([options, &overrides] { bench(*options, overrides); });
}

}  // namespace mezzo::cli
