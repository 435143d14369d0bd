#pragma once
#include <string>

#include <mezzo/graph/adapters.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Letters of the equation of an EinsumDense.
struct EinsumLetters {
  std::string input, kernel, output;
  bool dots_first = false, dots_last = false;  ///< input and output have an ellipsis there
};

/// Product of x with the low-rank update of an EinsumDense's kernel. A has the letters of the kernel except the last
/// one, and the rank; B the rank and the last one, as in Keras. The update itself, as large as the kernel, is not
/// computed unless the last letter is one of the input and of the output.
class EinsumUpdate {
 public:
  explicit EinsumUpdate(const EinsumLetters& letters);

  /// scale * einsum(equation, {dropout(x), A B}).
  Value product(const Value& x, const Adapter& adapter) const;

 private:
  std::string first_, second_;  // equations
  bool b_first_ = false;        // x is multiplied by B first, then by A
  bool joined_ = false;         // A is multiplied by B first
};

}  // namespace mezzo::detail
