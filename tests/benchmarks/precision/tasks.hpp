#pragma once
#include <string>
#include <vector>

#include "results.hpp"

namespace mezzo_bench {

/// A policy of a training.
struct Choice {
  std::string name;
  mezzo::Precision precision;
};

/// float32, mixed_bfloat16, mixed_float16, int8-mixed, and mixed_int8 for all layers; those that the settings name.
std::vector<Choice> choices(const Settings& settings);

/// A trainer without output.
mezzo::Trainer quiet_trainer(const mezzo::Precision& precision, int epochs = 1, std::int64_t steps = -1,
                             const mezzo::Callbacks& callbacks = {});

/// Results of a model that was trained in float32: as it is, and with quantized weights. `measure` writes what it
/// measures of a model into a result.
template <class M, class Measure>
void print_quantized(M& model, Result result, const mezzo::Tensor& row, const Measure& measure) {
  std::vector<M> models{model};
  for (const std::string& mode : weight_modes) {
    models.push_back(mezzo::clone(model));
    models.back().quantize(mode);
  }
  std::vector<mezzo::Predictor> predictors;
  for (M& each : models) predictors.push_back(each.predictor({.examples = {{row}}, .workers = 1}));
  const std::vector<double> times = predict_times(predictors, row);
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (i > 0) result.step_ms = 0;
    if (i > 0) result.config = weight_modes[i - 1] + " weights";
    measure(models[i], result);
    result.bytes = stored_bytes(models[i]);
    result.predict_ms = times[i];
    print(result);
  }
}

/// @name Tasks: print the results of one seed
/// @{
void run_mlp(const Settings& settings, std::uint64_t seed);     ///< Fashion-MNIST, MLP
void run_cnn(const Settings& settings, std::uint64_t seed);     ///< Fashion-MNIST, CNN
void run_gpt(const Settings& settings, std::uint64_t seed);     ///< King James Version, character GPT
void run_verses(const Settings& settings, std::uint64_t seed);  ///< King James Version, finetuned MiniLM
/// @}

}  // namespace mezzo_bench
