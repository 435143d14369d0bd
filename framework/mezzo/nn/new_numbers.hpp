#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo::detail {

/// Checks numbers for weights of a layer before the first of them is assigned, so that an error changes no weight.
class MEZZO_API NewNumbers {
 public:
  /// `weights`: those of the layer, with the scales of quantized ones.
  explicit NewNumbers(const std::vector<Variable>& weights);

  /// True if not all numbers can be assigned: for quantized weights, scales and zero points.
  bool restricts(const Variable& weight) const;

  /// Text of a fault of numbers in the variable's layout, "of a quantized weight must have finite numbers; got nan"; ""
  /// if there is none. Numbers of scales and zero points are those after the conversion to their dtype.
  std::string fault(const Variable& weight, const Tensor& numbers) const;

 private:
  std::map<const void*, bool> scales_{};  // true: may have zeros
  std::set<const void*> zeros_{};         // zero points
};

}  // namespace mezzo::detail
