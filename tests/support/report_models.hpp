#pragma once

#include <mezzo/mezzo.hpp>

namespace mezzo_tests {

// y = x * gain, with one weight.
class Gain : public mezzo::Layer {
 public:
  explicit Gain(const std::string& name = "gain") : Layer("Gain", mezzo::SequentialOptions{name, {}}) {}
  void build(const mezzo::Shape&) override { add_weight(gain_, {.shape = {}, .initializer = "ones"}); }

 protected:
  mezzo::Value call(const mezzo::Value& x) override { return x * gain_; }

 private:
  mezzo::Variable gain_{"gain"};
};

// softplus(10 x) in a form that overflows: exp(12) is not finite in float16.
class NaiveSoftplus : public mezzo::Layer {
 public:
  NaiveSoftplus() : Layer("NaiveSoftplus", mezzo::SequentialOptions{"softplus", {}}) {}

 protected:
  mezzo::Value call(const mezzo::Value& x) override { return log(exp(x * 10.0) + 1.0); }
};

inline mezzo::Tensor ramp(const mezzo::Shape& shape, double from, double to) {
  mezzo::Tensor out(shape);
  auto* data = out.mutable_data<float>();
  for (std::int64_t i = 0; i < out.size(); ++i) {
    data[i] = static_cast<float>(from + (to - from) * static_cast<double>(i) / static_cast<double>(out.size() - 1));
  }
  return out;
}

// A model whose softplus layer overflows in float16, since its inputs exceed 1.2.
inline mezzo::Sequential fragile() {
  mezzo::Sequential model(
      {mezzo::Dense({.units = 6, .name = "stem"}), Gain(), NaiveSoftplus(), mezzo::Dense({.units = 3, .name = "head"})},
      {.name = "fragile"});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.build({8, 6});
  mezzo::Tensor identity({6, 6});
  for (std::ptrdiff_t i = 0; i < 6; ++i) identity.mutable_data<float>()[7 * i] = 1;
  model.weights().front().assign(identity);
  return model;
}

}  // namespace mezzo_tests
