#pragma once
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include <mezzo/mezzo.hpp>

namespace mezzo_bench {

/// Settings of a run, from the command line.
struct Settings {
  std::int64_t seed = 0, seeds = 3, samples = 60000, epochs = 5, steps = 1000, verses = 3000;
  std::string only{};    ///< trainings whose name contains this text
  std::string minilm{};  ///< folder with model.safetensors and vocab.txt
};

/// True if the settings ask for a training of that name.
inline bool named(const Settings& settings, const std::string& config) {
  return config.find(settings.only) != std::string::npos;
}

/// One measurement: a line of JSON.
struct Result {
  std::string task, config;
  std::uint64_t seed = 0;
  std::string metric;  ///< "accuracy" in per cent, or "loss" in nats
  double value = 0;
  double right = 0;       ///< characters whose most probable one is right, in per cent; 0: not measured
  std::size_t bytes = 0;  ///< of the weights as they are stored
  double step_ms = 0;     ///< median processor time of a training step; 0: not trained
  double predict_ms = 0;  ///< median processor time of a prediction of one row; 0: not measured
};
void print(const Result& result);

/// Processor time of the process in ms: with one thread, other programs don't disturb it.
inline double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Measures the steps of a training.
class StepTimes : public mezzo::Callback {
 public:
  void on_train_batch_begin(std::int64_t, mezzo::Logs&) override { begin_ = processor_ms(); }
  void on_train_batch_end(std::int64_t, mezzo::Logs&) override { times_.push_back(processor_ms() - begin_); }

  /// Median of all steps so far.
  double median() const;

 private:
  double begin_ = 0;
  std::vector<double> times_{};
};

/// Bytes of the weights of a model as they are stored.
std::size_t stored_bytes(const mezzo::Layer& model);

/// Modes of quantize() that are compared.
inline const std::vector<std::string> weight_modes{"int8", "int4/64", "int4"};

/// Median times in ms in which each model predicts that row. The models run in turn.
std::vector<double> predict_times(const std::vector<mezzo::Predictor>& models, const mezzo::Tensor& row);

}  // namespace mezzo_bench
