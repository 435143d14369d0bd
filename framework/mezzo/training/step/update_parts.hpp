#pragma once
#include <cstddef>
#include <string>

#include <mezzo/graph/value.hpp>
#include <mezzo/nn/optimizer.hpp>

// Parts of an update that Module::minimize() and compile_step() have in common.
namespace mezzo::detail {

/// A float64 number of shape ().
inline Value constant(double x) { return Tensor::scalar(x, DType::float64); }

/// Throws a ValueError if the optimizer counts steps, and so can't make a second update in one. `call` names the call
/// in the text.
void require_repeatable(const Optimizer& optimizer, const std::string& where, const std::string& call);

/// Learning rate and number of the next update by the optimizer of that index. `accepted`: of its updates before in the
/// step, 1 or, if it was skipped, 0. `may_skip`: one of them may be 0.
Optimizer::Step next_step(std::size_t optimizer, const Values& accepted, bool may_skip);

/// Factor of the gradients: 1 / divisor, and less if their joint norm would be larger than `bound`, unless that is 0.
struct GradientFactor {
  Value multiplier;
  Value finite;  ///< bool of shape (): all gradients are finite
};
GradientFactor gradient_factor(const Value& divisor, const Values& gradients, double bound, double headroom);

/// True, as a bool of shape (), if all elements of the gradient are finite. `headroom`: see square_headroom().
Value gradient_is_finite(const Value& gradient, double headroom);

}  // namespace mezzo::detail
