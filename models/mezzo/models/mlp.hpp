#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/layers/dense.hpp>
#include <mezzo/layers/dropout.hpp>
#include <mezzo/layers/flatten.hpp>
#include <mezzo/training/model.hpp>

namespace mezzo {

/// `hidden_units`: sizes of the hidden layers, of which there may be none. Each has the activation, and behind it a
/// dropout of that rate.
struct MLPOptions {
  std::vector<std::int64_t> hidden_units{512, 512};
  Activation activation = "relu";
  double dropout = 0;
  std::int64_t classes = 10;
  std::string name{};
  Policy dtype{};
};

/// Multilayer perceptron (Rumelhart et al., 1986, "Learning representations by back-propagating errors"): (batch, ...)
/// of floats, flattened, to logits (batch, classes). The default has 669,706 weights for inputs of 784 numbers. Layers:
/// fc1, fc2, ..., the last one to the logits.
class MLP : public Model {
 public:
  /// A ValueError for hidden_units or classes below 1, or a dropout outside of [0, 1).
  explicit MLP(MLPOptions options = {});

 protected:
  Value call(const Value& x) override;

 private:
  MLPOptions options_;
  Flatten flatten_;
  Dropout dropout_;
  std::vector<Dense> layers_;
};

}  // namespace mezzo
