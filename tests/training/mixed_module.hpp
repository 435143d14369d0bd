#pragma once
#include <mezzo/mezzo.hpp>

#include "support/layers.hpp"

namespace mezzo_tests {

inline mezzo::Model branch_model(std::int64_t units) {
  const auto x = mezzo::Input({.shape = {6}});
  const auto y = mezzo::Dense({.units = units, .activation = "relu", .name = "low"})(x);
  return mezzo::Model({.inputs = {x}, .outputs = {y * 0.5 + mezzo::Dense({.units = units, .name = "skip"})(x)}});
}

/// An MLP with batch normalization, a custom layer, a functional branch, a frozen part and two optimizers.
class MixedModule : public mezzo::Module {
 public:
  explicit MixedModule(double learning_rate, double momentum = 0)
      : Module("Mixed"), learning_rate_(learning_rate), momentum_(momentum) {
    frozen_.set_trainable(false);
  }

  mezzo::Value training_step(const mezzo::Batch& batch) override {
    const auto [loss, error] = losses(batch);
    log("error", error);
    minimize(loss, optimizer("main"));
    minimize(error, optimizer("critic"));
    return loss;
  }

  void validation_step(const mezzo::Batch& batch) override {
    const auto [loss, error] = losses(batch);
    log("loss", loss);
    log("error", error);
  }

  mezzo::OptimizerConfigs configure_optimizers() override {
    const mezzo::SGD sgd({.learning_rate = learning_rate_, .momentum = momentum_});
    return {
        {.optimizer = sgd, .weights = main_weights(), .name = "main"},
        {.optimizer = mezzo::SGD({.learning_rate = learning_rate_}), .weights = critic_.weights(), .name = "critic"}};
  }

 private:
  std::pair<mezzo::Value, mezzo::Value> losses(const mezzo::Batch& batch) {
    const mezzo::Value& x = batch["x"];
    const mezzo::Value hidden = norm_(trunk_(x));
    const mezzo::Value logits = head_(scale_(hidden) + branch_(x) + frozen_(x));
    // Scaled by a tenth, so that float16 gradients don't overflow at the first loss scale and no step is skipped.
    const mezzo::Value score = critic_(mezzo::stop_gradient(hidden));
    return {mezzo::sparse_categorical_crossentropy(batch["label"], logits, {.from_logits = true}),
            mezzo::mean_squared_error(batch["score"], score) * 0.1};
  }

  std::vector<mezzo::Variable> main_weights() const {
    std::vector<mezzo::Variable> out;
    for (const auto& entry : named_weights()) {
      if (entry.first.rfind("critic/", 0) != 0) out.push_back(entry.second);
    }
    return out;
  }

  double learning_rate_;
  double momentum_;
  mezzo::Dense trunk_ = sub("trunk", mezzo::Dense({.units = 8, .activation = "relu"}));
  mezzo::BatchNormalization norm_ = sub("norm", mezzo::BatchNormalization());
  Scale scale_ = sub("scale", Scale({.initial = 0.75}));
  mezzo::Model branch_ = sub("branch", branch_model(8));
  mezzo::Dense frozen_ = sub("frozen", mezzo::Dense({.units = 8}));
  mezzo::Dense head_ = sub("head", mezzo::Dense({.units = 3}));
  mezzo::Dense critic_ = sub("critic", mezzo::Dense({.units = 1}));
};

/// 16 fixed samples of six numbers, a class and a score.
inline mezzo::DataLoader mixed_data() {
  std::vector<double> x, score;
  std::vector<std::int64_t> label;
  for (std::uint64_t i = 0; i < 16; ++i) {
    const auto words = mezzo::philox(1, i);
    for (std::uint64_t j = 0; j < 6; ++j) x.push_back(2 * mezzo::unit_float(mezzo::philox(2, i, j)[0]) - 1);
    label.push_back(static_cast<std::int64_t>(words[0] % 3));
    score.push_back(mezzo::unit_float(words[1]));
  }
  return mezzo::DataLoader(
      mezzo::Dataset::from_tensors({{"x", mezzo::Tensor({16, 6}, x), mezzo::Role::input},
                                    {"label", mezzo::Tensor({16}, label), mezzo::Role::target},
                                    {"score", mezzo::Tensor({16, 1}, score), mezzo::Role::target}}),
      {.batch_size = 16, .workers = 0});
}

}  // namespace mezzo_tests
