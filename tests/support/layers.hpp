#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/initializers/constant.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo_tests {

struct ScaleOptions {
  double initial = 1.0;
  std::string name{};
  mezzo::Policy dtype{};
};

// A layer as a user writes it, with a plain member that build() sets.
class Scale : public mezzo::Layer {
 public:
  explicit Scale(ScaleOptions options = {}) : Layer("Scale", options), options_(std::move(options)) {}
  void build(const mezzo::Shape& input) override {
    width_ = input.back();
    add_weight(gain_, {.shape = {width_}, .initializer = mezzo::Constant(options_.initial)});
  }

 protected:
  mezzo::Value call(const mezzo::Value& x) override {
    if (width_ != x.shape().back()) throw mezzo::ValueError(label() + " a plain member was lost");
    return x * gain_;
  }

 private:
  ScaleOptions options_;
  std::int64_t width_ = 0;
  mezzo::Variable gain_{"gain"};
};

// The paths of all weights: "dense/kernel dense/bias".
inline std::string paths_of(const mezzo::Layer& layer) {
  std::string text;
  for (const auto& entry : layer.named_weights()) text += (text.empty() ? "" : " ") + entry.first;
  return text;
}

// Copies of the values of all weights, by path.
inline std::map<std::string, mezzo::Tensor> values_of(const mezzo::Layer& layer) {
  std::map<std::string, mezzo::Tensor> out;
  for (const auto& entry : layer.named_weights()) out[entry.first] = entry.second.value().copy();
  return out;
}

// The paths of the weights that differ from `before` in any bit.
inline std::string changed_since(const std::map<std::string, mezzo::Tensor>& before, const mezzo::Layer& layer) {
  std::string text;
  for (const auto& entry : layer.named_weights()) {
    const auto found = before.find(entry.first);
    if (found != before.end() && found->second.equal(entry.second.value())) continue;
    text += (text.empty() ? "" : " ") + entry.first;
  }
  return text;
}

}  // namespace mezzo_tests
