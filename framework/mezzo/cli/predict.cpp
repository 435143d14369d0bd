#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include <mezzo/cli/class_names.hpp>
#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/saved_run.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/io/csv.hpp>
#include <mezzo/io/npy.hpp>
#include <mezzo/io/npz.hpp>
#include <mezzo/io/safetensors.hpp>

namespace mezzo::cli {
namespace {

struct PredictArguments : SavedRunOptions {
  PredictArguments() { labels = false; }

  std::string output = "predictions.csv";
};

bool is_known(const std::string& path) {
  for (const char* suffix : {".csv", ".npy", ".npz", ".safetensors"}) {
    if (ends_in(path, suffix)) return true;
  }
  return false;
}

void write(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& outputs) {
  if (ends_in(path, ".safetensors")) return save_safetensors(path, outputs);
  if (ends_in(path, ".npz")) return save_npz(path, {outputs.begin(), outputs.end()});
  if (outputs.size() != 1) {
    fail_usage("--output must end in .npz or .safetensors for a model with {} outputs; got \"{}\"", outputs.size(),
               path);
  }
  if (ends_in(path, ".npy")) return save_npy(path, outputs.front().second);
  save_csv(path, outputs.front().second);
}

/// Prints the names of the classes of the first samples.
void print_labels(const SavedRun& run, const std::vector<std::size_t>& best, const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  for (std::size_t i = 0; i < std::min(best.size(), most); ++i) {
    const std::string sample = run.files.empty() ? fmt::format("sample {}", i) : run.files[i];
    fmt::print("{}: {}\n", sample, names[best[i]]);
  }
  if (best.size() > most) fmt::print("and {} more\n", best.size() - most);
}

}  // namespace

void add_predict(CLI::App& app, const Overrides& overrides) {
  CLI::App* command = app.add_subcommand("predict", "Write the outputs of a saved model on data to a file");
  const auto options = std::make_shared<PredictArguments>();
  add_run_options(*command, *options);
  command->add_option("--output", options->output, "File to write: .csv, .npy, .npz or .safetensors")
      ->capture_default_str();
  command->callback([options, &overrides] {
    if (!is_known(options->output)) {
      fail_usage("--output must end in .csv, .npy, .npz or .safetensors; got \"{}\"", options->output);
    }
    SavedRun run = open_run(*options, overrides);
    const std::vector<std::string> names = read_class_names(options->model);
    std::vector<std::pair<std::string, Tensor>> outputs;
    for (const auto& [name, tensor] : run.model->predict_all(run.loader, {.verbose = 0})) {
      outputs.emplace_back(name.empty() ? fmt::format("output_{}", outputs.size() + 1) : name, tensor);
    }
    const bool labelled = outputs.size() == 1 && has_scores(outputs.front().second, names);
    // Throws for a NaN: no file is written then.
    const std::vector<std::size_t> best = labelled ? best_classes(outputs.front().second) : std::vector<std::size_t>{};
    if (labelled && ends_in(options->output, ".csv")) {
      write_labels(options->output, outputs.front().second, best, names, run.files);
    } else {
      write(options->output, outputs);
    }
    if (labelled) print_labels(run, best, names);
    fmt::print("{} samples ({}): {}\n", run.loader.samples(), run.part, options->output);
  });
}

}  // namespace mezzo::cli
