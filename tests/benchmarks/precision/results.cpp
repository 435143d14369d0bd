#include "results.hpp"

#include <iostream>

#include <fmt/format.h>

#include "../median.hpp"

namespace mezzo_bench {

void print(const Result& result) {
  std::string line = fmt::format(
      "{{\"task\": \"{}\", \"config\": \"{}\", \"seed\": {}, \"{}\": {:.4f}, \"weights_kib\": {:.1f}", result.task,
      result.config, result.seed, result.metric, result.value, static_cast<double>(result.bytes) / 1024);
  if (result.right > 0) line += fmt::format(", \"right\": {:.3f}", result.right);
  if (result.step_ms > 0) line += fmt::format(", \"step_ms\": {:.3f}", result.step_ms);
  if (result.predict_ms > 0) line += fmt::format(", \"predict_ms\": {:.4f}", result.predict_ms);
  std::cout << line << "}" << std::endl;
}

double StepTimes::median() const { return times_.empty() ? 0 : mezzo_bench::median(times_); }

std::size_t stored_bytes(const mezzo::Layer& model) {
  std::size_t sum = 0;
  for (const mezzo::Variable& weight : model.weights()) sum += weight.state()->value.bytes();
  return sum;
}

std::vector<double> predict_times(const std::vector<mezzo::Predictor>& models, const mezzo::Tensor& row) {
  constexpr int rounds = 200;
  std::vector<std::vector<double>> times(models.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      const double begin = processor_ms();
      models[i](row);
      times[i].push_back(processor_ms() - begin);
    }
  }
  std::vector<double> medians(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) medians[i] = median(times[i]);
  return medians;
}

}  // namespace mezzo_bench
