#pragma once

#include <boost/test/unit_test.hpp>

#include <array>
#include <map>
#include <string>
#include <vector>

#include <mezzo/graph/gradient.hpp>
#include <mezzo/model/model.hpp>

#include "formula.hpp"
#include "support/recorded.hpp"
#include "support/runs.hpp"
#include "support/tensors.hpp"

namespace mezzo_tests {

struct TrainingStep {
  mezzo::Tensor logits;
  double loss = 0;
  std::map<std::string, mezzo::Tensor> gradients;  // by torch's names
};

// One compiled step: logits, loss and gradients of softmax cross-entropy; moving statistics move.
inline TrainingStep run_training_step(mezzo::Model& model, const mezzo::Tensor& x, const mezzo::Tensor& labels) {
  std::vector<std::string> names;
  const auto step = [&](const mezzo::Values& inputs) {
    const mezzo::Value logits = model(inputs[0]);
    const mezzo::Value loss = mezzo::mean(mezzo::sparse_crossentropy(inputs[1], logits, true));
    mezzo::Values weights;
    for (const auto& entry : model.named_weights()) {
      if (!entry.second.trainable()) continue;
      names.push_back(torch_name(entry.first));
      weights.push_back(entry.second);
    }
    mezzo::Values outputs = mezzo::gradients(loss, weights);
    outputs.push_back(loss);
    outputs.push_back(logits);
    return outputs;
  };
  const Tensors outputs = run_compiled(trace_step(step, {x, labels}, true), {x, labels});
  TrainingStep out{outputs[names.size() + 1], outputs[names.size()].item(), {}};
  for (std::size_t i = 0; i < names.size(); ++i) out.gradients[names[i]] = outputs[i];
  return out;
}

struct Tolerances {
  double output;
  double gradient;  // of the norm
  double moved;
};

// Compares a model's training step with a case of tests/parity/resnet.py.
inline void check_training_step(const nlohmann::json& expected, mezzo::Model& model, mezzo::DType dtype,
                                const Tolerances& tolerances) {
  const auto shape = expected.at("shape").get<mezzo::Shape>();
  model.build(shape);
  std::uint32_t place = 0;
  const auto weights = model.named_weights();
  BOOST_TEST_REQUIRE(weights.size() == expected.at("weights").size());
  std::map<std::string, mezzo::Variable> by_name;
  for (const auto& entry : weights) by_name.emplace(torch_name(entry.first), entry.second);
  for (const auto& entry : expected.at("weights")) {
    const auto name = entry.at(0).get<std::string>();
    const mezzo::Tensor value =
        from_torch(weight_by_formula(name, entry.at(1).get<mezzo::Shape>(), place++, expected.at("beta")));
    BOOST_TEST_REQUIRE(by_name.count(name) == 1U, name << " is missing");
    by_name.at(name).assign(value);
  }

  const auto labels = expected.at("labels").get<std::vector<std::int64_t>>();
  const TrainingStep got = run_training_step(model, images(shape).cast(dtype), mezzo::Tensor({shape[0]}, labels));
  const mezzo::Tensor logits(got.logits.shape(), expected.at("logits").get<std::vector<double>>());
  BOOST_TEST(largest_difference(got.logits, logits) <= tolerances.output);
  BOOST_TEST(std::abs(got.loss - expected.at("loss").get<double>()) <= tolerances.output);
  BOOST_TEST(got.gradients.size() == expected.at("gradients").size());
  double worst = 0;
  for (const auto& entry : got.gradients) {
    const auto wanted = expected.at("gradients").at(entry.first).get<std::array<double, 9>>();
    const double error = relative_error(sketch(entry.second), wanted);
    worst = std::max(worst, error);
    BOOST_TEST(error <= tolerances.gradient, entry.first << ": gradient off by " << error);
  }
  for (const auto& entry : expected.at("moved").items()) {
    const auto wanted = entry.value().get<std::array<double, 9>>();
    const double error = relative_error(sketch(by_name.at(entry.key()).value()), wanted);
    BOOST_TEST(error <= tolerances.moved, entry.key() << ": statistic off by " << error);
  }
  BOOST_TEST_MESSAGE("logits off by " << largest_difference(got.logits, logits) << ", gradients by " << worst);
}

}  // namespace mezzo_tests
