// Cost of a Trainer with its usual companions: steps of the workload mlp per second, from the loader.
//
// mezzo_overhead [--rounds N] [--batches N]
//
// A round is an epoch of bare steps and an epoch of fit with CSV and TensorBoard loggers, a progress bar in a pipe,
// ModelCheckpoint after each epoch and EarlyStopping. Both read the same loader. Rounds take turns; a line of JSON has
// the seconds of each and the ratio of their medians: 0.95 is a Trainer of 95 % of the speed.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mezzo/core/output.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "../median.hpp"
#include "../workloads.hpp"

namespace {

using namespace mezzo;
using mezzo_bench::median;
using mezzo_bench::Workload;
using Clock = std::chrono::steady_clock;

DataLoader loader_of(const Workload& workload, std::int64_t batches) {
  const HostBatch batch = workload.make_batch();
  Dataset data = Dataset::from_tensors({{"x", batch.fields[0].tensor}, {"y", batch.fields[1].tensor, Role::target}});
  std::vector<Dataset> all(static_cast<std::size_t>(batches), data);
  return DataLoader(Dataset::concat(all), {.batch_size = workload.batch_size, .shuffle = true});
}

std::unique_ptr<Model> compiled(const Workload& workload) {
  std::unique_ptr<Model> model = workload.make_model();
  model->compile(
      {.optimizer = Adam({.learning_rate = 1e-4}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

/// Epochs of steps without a loop around them.
class BareSteps {
 public:
  BareSteps(const Workload& workload, DataLoader data)
      : model_(compiled(workload)), data_(std::move(data)), runner_(*model_, {}) {
    runner_.rehearse(Stage::fit, *data_.epoch(0).next());
    runner_.configure(true);
  }

  double epoch() {
    const auto start = Clock::now();
    detail::BatchStream stream = data_.epoch(epoch_++);
    while (const auto batch = stream.next()) runner_.run(Stage::fit, *batch);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  std::unique_ptr<Model> model_;
  DataLoader data_;
  detail::StepRunner runner_;
  std::int64_t epoch_ = 0;
};

/// Notes the times of epochs from the first step on to the end with its files. Between two epochs `between` runs.
class Epochs : public Callback {
 public:
  explicit Epochs(std::function<void()> between) : between_(std::move(between)) {}
  bool saves() const override { return true; }  // after ModelCheckpoint
  void on_epoch_begin(int, Logs&) override {
    between_();
    start_ = Clock::now();
  }
  void on_epoch_end(int, Logs&) override {
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start_).count());
  }
  std::vector<double> seconds;

 private:
  std::function<void()> between_;
  Clock::time_point start_;
};

}  // namespace

int main(int count, char** arguments) {
  int rounds = 11;
  std::int64_t batches = 400;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--rounds") rounds = std::stoi(arguments[i + 1]);
    if (std::string(arguments[i]) == "--batches") batches = std::stoll(arguments[i + 1]);
  }
  if (rounds < 1 || batches < 1 || count % 2 == 0) {
    std::cerr << "usage: mezzo_overhead [--rounds N] [--batches N]\n";
    return 2;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "mezzo-overhead-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const Workload& workload = mezzo_bench::find_workload("mlp");
  BareSteps bare(workload, loader_of(workload, batches));
  std::vector<double> bare_seconds;
  Epochs epochs([&] { bare_seconds.push_back(bare.epoch()); });
  set_output([](const std::string&) {});  // as a pipe: one line for an epoch
  const std::unique_ptr<Model> model = compiled(workload);
  Trainer({.max_epochs = rounds + 1,
           .callbacks = {EarlyStopping({.monitor = "loss", .patience = rounds + 1}),
                         ModelCheckpoint({.dirpath = folder, .save_last = true}), epochs},
           .logger = {loggers::CSVLogger(folder), loggers::TensorBoardLogger(folder)}})
      .fit(*model, loader_of(workload, batches));
  std::filesystem::remove_all(folder);
  std::vector<double>& trainer_seconds = epochs.seconds;
  bare_seconds.erase(bare_seconds.begin());  // the first ones compile
  trainer_seconds.erase(trainer_seconds.begin());
  std::cout << fmt::format("{{\"batches\": {}, \"bare\": [{:.4f}], \"trainer\": [{:.4f}], \"ratio\": {:.4f}}}\n",
                           batches, fmt::join(bare_seconds, ", "), fmt::join(trainer_seconds, ", "),
                           median(bare_seconds) / median(trainer_seconds));
  return 0;
}
