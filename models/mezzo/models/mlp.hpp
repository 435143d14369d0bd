#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

struct MLPOptions {
  std::vector<std::int64_t> hidden_units{512, 512};  ///< sizes of the hidden layers, at least 1; {}: no hidden layer
  ActivationFunction activation = "relu";            ///< name or function, applied to each hidden layer
  double dropout = 0;                                ///< dropout rate after each hidden layer, in [0, 1)
  std::int64_t classes = 10;                         ///< size of the output, at least 1
  std::string name{};                                ///< name of the model; "": automatic
  Policy dtype{};  ///< precision policy; default: the policy of the Trainer or the global one
};

/// Multilayer perceptron (Rumelhart et al., 1986, "Learning representations by back-propagating errors"): flattens
/// floats (batch, ...) and maps them to logits (batch, classes). The default has 669,706 weights for inputs of 784
/// numbers. Layers: fc1, fc2, ...; the last one computes the logits.
class MEZZO_API MLP : public Model {
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
