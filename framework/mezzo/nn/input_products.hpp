#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

/// Sum of X^T X over all inputs X (rows, inputs) of the products of a kernel.
struct InputProducts {
  std::int64_t rows = 0;
  Tensor sum;  ///< float64 (inputs, inputs); undefined before the first input
};

/// Sums of the inputs of kernels, of one group of kernels at a time.
class InputSums {
 public:
  /// `groups`: the group of each kernel.
  explicit InputSums(std::map<const VariableState*, std::size_t> groups) : groups_(std::move(groups)) {}

  /// Calls each of `runs` and adds the inputs of floating kernels of the group that this thread computes meanwhile; of
  /// the group with the first product, if none is given. Sums of other groups are dropped before. `stops`: a run ends
  /// when all kernels of the group have had as many inputs as in a run to the end, and a group that comes later in
  /// order() begins. A ValueError for inputs with NaN or infinity.
  void add(const std::vector<std::function<void()>>& runs, std::optional<std::size_t> group, bool stops);

  /// Groups in the order of their first product in all runs so far.
  const std::vector<std::size_t>& order() const { return order_; }

  /// Sum of a kernel; rows = 0 if it had no input.
  const InputProducts& of(const VariableState& kernel) const;

  bool has(const VariableState& kernel) const { return groups_.count(&kernel) > 0; }
  void note(const Value& x, const VariableState& kernel);

 private:
  std::size_t place_of(std::size_t group);
  bool knows_group() const;

  std::map<const VariableState*, std::size_t> groups_;
  std::map<const VariableState*, InputProducts> sums_{};
  std::map<const VariableState*, std::size_t> seen_{};   // calls in this run
  std::map<const VariableState*, std::size_t> calls_{};  // the most calls in a run that did not stop
  std::vector<std::size_t> order_{};
  std::optional<std::size_t> group_{};
  bool stops_ = false;
};

/// True if this thread adds the inputs of products with the kernel.
bool adds_input_products(const VariableState& kernel);

/// Adds the input x (..., inputs) of a product with a floating kernel, if adds_input_products(). Nothing happens for
/// symbols.
void note_product(const Value& x, const VariableState& kernel);

}  // namespace mezzo::detail
