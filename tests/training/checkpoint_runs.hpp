#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"

namespace mezzo_tests {

// A policy, and how a training stores variables and optimizer states.
struct Way {
  const char* policy = "float32";
  mezzo::AdamWOptions options{};
  std::optional<mezzo::LossScaleOptions> loss_scale{};
};

// Loss scale at which gradients of the model below overflow in float16. A quarter of it doesn't overflow.
constexpr double overflowing_scale = 0x1p18;

// All ways of storing variables and states, and a loss scale with which some steps of every epoch overflow.
inline std::vector<Way> ways() {
  const auto bf16 = mezzo::DType::bfloat16;
  return {{.policy = "float32"},
          {.policy = "float64"},
          {.policy = "mixed_bfloat16"},
          {.policy = "mixed_float16", .loss_scale = {{.initial_scale = overflowing_scale, .growth_interval = 1}}},
          {.policy = "bfloat16"},
          {.policy = "float16"},
          {.policy = "mixed_bfloat16", .options = {.split_master_weights = true}},
          {.policy = "bfloat16", .options = {.stochastic_rounding = true, .state_dtype = bf16}},
          {.policy = "bfloat16", .options = {.kahan_summation = true}},
          {.policy = "float16", .options = {.kahan_summation = true}, .loss_scale = {{.initial_scale = 1024}}},
          {.policy = "mixed_bfloat16", .options = {.split_master_weights = true, .state_dtype = bf16}}};
}

inline std::string name_of(const Way& way) {
  std::string text = way.policy;
  if (way.options.split_master_weights) text += " split";
  if (way.options.stochastic_rounding) text += " stochastic";
  if (way.options.kahan_summation) text += " kahan";
  if (way.options.state_dtype == mezzo::DType::bfloat16) text += " states";
  return text;
}

// A model of 4 inputs, 8 hidden units and 3 outputs with dropout and moving statistics, and its training.
struct Run {
  explicit Run(const Way& how, std::uint64_t number = 3) : Run(how, optimizer_of(how), number) {}
  Run(const Way& how, const mezzo::Any<mezzo::Optimizer>& what, std::uint64_t number = 3)
      : way(how), optimizer(what), seed(number) {
    model.compile({.optimizer = optimizer, .loss = mezzo::SparseCategoricalCrossentropy({.from_logits = true})});
  }

  // 22 samples in batches of 8: the last batch of an epoch is smaller and has another plan.
  static mezzo::DataLoader data(std::int64_t batch_size = 8) {
    std::vector<float> x;
    std::vector<std::int64_t> y;
    for (std::uint64_t i = 0; i < 22; ++i) {
      for (std::uint64_t k = 0; k < 4; ++k) {
        x.push_back(mezzo::unit_float(mezzo::philox(1, i, k)[0]) - 0.5F + (k == i % 3 ? 1 : 0));
      }
      y.push_back(static_cast<std::int64_t>(i % 3));
    }
    return mezzo::DataLoader(mezzo::Dataset::from_tensors({{"x", mezzo::Tensor({22, 4}, x), mezzo::Role::input},
                                                           {"y", mezzo::Tensor({22}, y), mezzo::Role::target}}),
                             {.batch_size = batch_size, .shuffle = true, .workers = 0});
  }

  mezzo::History fit(int epochs, const std::string& checkpoint = {}, std::int64_t steps = -1) {
    mezzo::seed_everything(seed);
    const mezzo::Trainer trainer({.max_epochs = epochs,
                                  .max_steps = steps,
                                  .precision = mezzo::Policy(way.policy),
                                  .enable_progress_bar = false,
                                  .loss_scale = way.loss_scale});
    return trainer.fit(model, data(), {}, {.ckpt_path = checkpoint});
  }

  std::string save(const mezzo_tests::Folder& folder, const std::string& name) {
    mezzo::Trainer::save_checkpoint(model, folder.path(name));
    return folder.path(name);
  }

  static mezzo::Any<mezzo::Optimizer> optimizer_of(const Way& way) {
    mezzo::AdamWOptions options = way.options;
    options.learning_rate =
        mezzo::ExponentialDecay({.initial_learning_rate = 0.03, .decay_steps = 4, .decay_rate = 0.8});
    return mezzo::AdamW(options);
  }

  Way way;
  mezzo::Any<mezzo::Optimizer> optimizer;
  std::uint64_t seed;  // of the initial weights
  mezzo::Dense first{{.units = 8, .activation = "relu", .name = "first"}};
  mezzo::Sequential model = mezzo::Sequential({first, mezzo::Dropout({.rate = 0.25}),
                                               mezzo::BatchNormalization({.momentum = 0.9, .name = "norm"}),
                                               mezzo::Dense({.units = 3, .name = "last"})});
};

// All tensors of a safetensors file by name.
inline std::map<std::string, mezzo::Tensor> tensors_of(const std::string& path) {
  const mezzo::SafetensorsFile file(path);
  std::map<std::string, mezzo::Tensor> out;
  for (const auto& entry : file.entries()) out[entry.name] = file.read(entry.name);
  return out;
}

}  // namespace mezzo_tests
