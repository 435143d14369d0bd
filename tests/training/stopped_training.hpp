#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/mezzo.hpp>

#include "checkpoint_runs.hpp"
#include "support/folder.hpp"

namespace mezzo_tests {

using Lines = std::vector<std::string>;

// Writes down what loggers receive, with all digits.
class LineLogger : public mezzo::Logger {
 public:
  explicit LineLogger(std::shared_ptr<Lines> lines) : lines_(std::move(lines)) {}
  void log_metrics(const mezzo::Logs& metrics, std::int64_t step) override {
    std::string line = fmt::format("{}", step);
    for (const auto& [name, number] : metrics) line += fmt::format(" {}={}", name, number);
    lines_->push_back(line);
  }

 private:
  std::shared_ptr<Lines> lines_;
};

// 44 samples make 6 batches of an epoch: two windows of 3 steps.
struct StoppedTraining {
  StoppedTraining(std::string policy_name, bool has_schedule) : policy(std::move(policy_name)), schedule(has_schedule) {
    const mezzo::detail::LearningRate rate =
        schedule ? mezzo::detail::LearningRate(
                       mezzo::ExponentialDecay({.initial_learning_rate = 0.03, .decay_steps = 2, .decay_rate = 0.8}))
                 : mezzo::detail::LearningRate(0.03);
    model.compile({.optimizer = mezzo::Adam({.learning_rate = rate}),
                   .loss = mezzo::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"}});
  }

  static mezzo::DataLoader data(bool training) {
    std::vector<float> x;
    std::vector<std::int64_t> y;
    const std::uint64_t count = training ? 44 : 20;
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::uint64_t k = 0; k < 4; ++k) {
        x.push_back(mezzo::unit_float(mezzo::philox(training ? 1 : 2, i, k)[0]) - 0.5F + (k == i % 3 ? 1 : 0));
      }
      y.push_back(static_cast<std::int64_t>(i % 3));
    }
    const auto size = static_cast<std::int64_t>(count);
    return mezzo::DataLoader(mezzo::Dataset::from_tensors({{"x", mezzo::Tensor({size, 4}, x), mezzo::Role::input},
                                                           {"y", mezzo::Tensor({size}, y), mezzo::Role::target}}),
                             {.batch_size = 8, .shuffle = training});
  }

  mezzo::History fit(const mezzo::Callbacks& more = {}, const std::string& checkpoint = {}, bool best = true) {
    mezzo::seed_everything(3);
    mezzo::Callbacks callbacks{mezzo::EarlyStopping({.monitor = "val_loss", .patience = 9}),
                               mezzo::EMAWeightAveraging({.decay = 0.8})};
    if (best) {
      callbacks.emplace_back(
          mezzo::ModelCheckpoint({.dirpath = folder.path("best"), .monitor = "val_loss", .save_top_k = 2}));
    }
    if (!schedule)
      callbacks.emplace_back(mezzo::ReduceLROnPlateau({.monitor = "val_loss", .patience = 1, .min_delta = 1}));
    callbacks.insert(callbacks.end(), more.begin(), more.end());
    const bool scaled = policy == "mixed_float16";
    return mezzo::Trainer({.max_epochs = 4,
                           .accumulate_grad_batches = 3,
                           .precision = policy == "auto" ? mezzo::Precision("auto") : mezzo::Policy(policy),
                           .callbacks = callbacks,
                           .logger = {LineLogger(lines)},
                           .log_every_n_steps = 2,
                           .enable_progress_bar = false,
                           .loss_scale = scaled ? std::optional<mezzo::LossScaleOptions>(
                                                      {.initial_scale = 4 * overflowing_scale, .growth_interval = 1})
                                                : std::nullopt})
        .fit(model, data(true), data(false), {.ckpt_path = checkpoint});
  }

  std::string saved(const char* name) {
    mezzo::Trainer::save_checkpoint(model, folder.path(name));
    return folder.path(name);
  }

  std::string policy;
  bool schedule;
  Folder folder{};
  std::shared_ptr<Lines> lines = std::make_shared<Lines>();
  mezzo::Sequential model =
      mezzo::Sequential({mezzo::Dense({.units = 8, .activation = "relu"}), mezzo::Dropout({.rate = 0.25}),
                         mezzo::BatchNormalization({.momentum = 0.9}), mezzo::Dense({.units = 3})});
};

// Text of the differences between the trainings' weights, optimizer states and counters.
inline std::string differences(StoppedTraining& a, StoppedTraining& b) {
  const std::string first = a.saved("a"), second = b.saved("b");
  const auto tensors = tensors_of(first), others = tensors_of(second);
  std::string out;
  for (const auto& [name, tensor] : tensors) {
    if (others.count(name) == 0 || !tensor.equal(others.at(name))) out += name + " ";
  }
  if (tensors.size() != others.size()) out += "count ";
  const mezzo::Metadata numbers = mezzo::SafetensorsFile(first).metadata(),
                        other = mezzo::SafetensorsFile(second).metadata();
  for (const auto& [name, text] : numbers) {
    if (name == "training_seconds") continue;  // the wall time
    if (other.count(name) == 0 || other.at(name) != text) out += name + " ";
  }
  return out;
}

}  // namespace mezzo_tests
