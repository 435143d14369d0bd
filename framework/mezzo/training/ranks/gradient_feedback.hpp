#pragma once
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

/// Rounding errors of the gradients that this rank has sent in bfloat16, which it adds to the next ones (1-bit SGD,
/// Seide et al. 2014; EF-SGD, Karimireddy et al. 2019).
class GradientFeedback {
 public:
  using Errors = std::shared_ptr<std::vector<float>>;

  /// Errors of the unscaled gradient of a weight, zeros at first.
  Errors of(const VariableState& weight) {
    Errors& errors = errors_[&weight];
    if (!errors) errors = std::make_shared<std::vector<float>>(static_cast<std::size_t>(weight.value.size()));
    return errors;
  }

  /// Clears the errors, after a skipped step.
  void clear() {
    for (auto& entry : errors_) std::fill(entry.second->begin(), entry.second->end(), 0.0F);
  }

 private:
  std::unordered_map<const VariableState*, Errors> errors_;
};

}  // namespace mezzo::detail
