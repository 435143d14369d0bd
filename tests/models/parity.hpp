#pragma once

#include <boost/test/unit_test.hpp>

#include <array>
#include <map>
#include <string>
#include <vector>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/training/model/model.hpp>

#include "formula.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/runs.hpp"
#include "support/tensors.hpp"

namespace mezzo_tests {

// Weight or its gradient in the layout of weight files.
inline mezzo::Tensor in_file_layout(const mezzo::detail::FileWeight& weight, const mezzo::Tensor& value) {
  return mezzo::transpose(mezzo::Value(value), weight.axes).tensor().reshape(weight.shape());
}

// Name of the weight in a recorded object: one of its names in files.
inline std::string recorded_name(const mezzo::detail::FileWeight& weight, const nlohmann::json& object) {
  for (const std::string& name : weight.names) {
    if (object.contains(name)) return name;
  }
  return "";
}

// Input of a recorded case: its integers, or the image of the formula.
inline TensorList recorded_inputs(const nlohmann::json& expected, mezzo::DType dtype) {
  if (!expected.contains("inputs")) return {images(expected.at("shape").get<mezzo::Shape>()).cast(dtype)};
  TensorList inputs;
  for (const nlohmann::json& input : expected.at("inputs")) inputs.push_back(recorded_tensor(input));
  return inputs;
}

// Builds the model and fills it with the formula, through a file with torch's names and layouts.
inline void load_formula(const nlohmann::json& expected, mezzo::Model& model) {
  model.build(recorded_inputs(expected, mezzo::DType::float32)[0].shape());
  mezzo::NamedTensors tensors;
  for (const auto& entry : expected.at("weights")) {
    const auto name = entry.at(0).get<std::string>();
    const auto place = static_cast<std::uint32_t>(tensors.size());
    tensors.emplace_back(name, weight_by_formula(name, entry.at(1).get<mezzo::Shape>(), place, expected.at("beta")));
  }
  const Folder folder;
  mezzo::save_safetensors(folder.path("weights"), tensors, {});
  model.load_weights(folder.path("weights"));
}

// Rows of ids as int64 (rows, positions).
inline mezzo::Tensor recorded_ids(const nlohmann::json& rows) {
  std::vector<std::int64_t> all;
  for (const auto& row : rows) {
    for (const auto& id : row) all.push_back(id.get<std::int64_t>());
  }
  return {{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.at(0).size())}, all};
}

struct TrainingStep {
  mezzo::Tensor logits;
  double loss = 0;
  TensorList gradients;
};

// Makes one compiled step: logits (the last output), loss and gradients of softmax cross-entropy. Updates moving
// statistics. The backward pass starts with `scale`, as under loss scaling; the gradients are divided by it.
inline TrainingStep run_training_step(mezzo::Model& model, const TensorList& x, const std::vector<std::int64_t>& labels,
                                      const std::vector<mezzo::Variable>& variables, double scale = 1) {
  const auto step = [&](const mezzo::Values& inputs) {
    const mezzo::Value logits = model(inputs).back();
    const mezzo::Shape shape(logits.shape().begin(), logits.shape().end() - 1);
    const mezzo::Value loss = mezzo::mean(mezzo::sparse_crossentropy(mezzo::Tensor(shape, labels), logits, true));
    mezzo::Values outputs = mezzo::gradients(loss * scale, mezzo::Values(variables.begin(), variables.end()));
    outputs.push_back(loss);
    outputs.push_back(logits);
    return outputs;
  };
  TensorList outputs = run_compiled(trace_step(step, x, true), x);
  TrainingStep out{outputs.back(), outputs[outputs.size() - 2].item(), {}};
  for (std::size_t i = 0; i + 2 < outputs.size(); ++i) {
    std::vector<double> numbers = outputs[i].to_doubles();
    for (double& number : numbers) number /= scale;
    out.gradients.emplace_back(outputs[i].shape(), numbers);
  }
  return out;
}

struct Tolerances {
  double output;
  double gradient;  // of the norm of a gradient
  double moved = 0;
};

// Compares a training step of a model with one that tests/parity recorded.
inline void check_training_step(const nlohmann::json& expected, mezzo::Model& model, mezzo::DType dtype,
                                const Tolerances& tolerances, double scale = 1) {
  using Sketch = std::array<double, 9>;
  load_formula(expected, model);
  std::vector<mezzo::detail::FileWeight> trained, moving;
  std::vector<mezzo::Variable> variables;
  for (const auto& weight : mezzo::detail::file_weights(*model.state()).weights) {
    (weight.variable.trainable() ? trained : moving).push_back(weight);
    if (weight.variable.trainable()) variables.push_back(weight.variable);
  }
  const TrainingStep got = run_training_step(model, recorded_inputs(expected, dtype),
                                             expected.at("labels").get<std::vector<std::int64_t>>(), variables, scale);
  const mezzo::Tensor logits(got.logits.shape(), expected.at("logits").get<std::vector<double>>());
  BOOST_TEST(largest_difference(got.logits, logits) <= tolerances.output);
  BOOST_TEST(std::abs(got.loss - expected.at("loss").get<double>()) <= tolerances.output);

  const nlohmann::json& gradients = expected.at("gradients");
  BOOST_TEST_REQUIRE(got.gradients.size() == gradients.size());
  double largest = 0, worst = 0;
  for (const auto& entry : gradients.items()) largest = std::max(largest, entry.value().at(0).get<double>());
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const std::string name = recorded_name(trained[i], gradients);
    BOOST_TEST_REQUIRE(!name.empty(), trained[i].name() << " is missing");
    const Sketch sketched = sketch(in_file_layout(trained[i], got.gradients[i]));
    const double error = relative_error(sketched, gradients.at(name).get<Sketch>(), largest);
    worst = std::max(worst, error);
    BOOST_TEST(error <= tolerances.gradient, name << ": gradient off by " << error);
  }
  BOOST_TEST(moving.size() == expected.at("moved").size());
  for (const mezzo::detail::FileWeight& weight : moving) {
    const Sketch sketched = sketch(in_file_layout(weight, weight.variable.value()));
    const double error = relative_error(sketched, expected.at("moved").at(weight.name()).get<Sketch>(), 1);
    BOOST_TEST(error <= tolerances.moved, weight.name() << ": statistic off by " << error);
  }
  BOOST_TEST_MESSAGE("logits off by " << largest_difference(got.logits, logits) << ", gradients by " << worst);
}

}  // namespace mezzo_tests
