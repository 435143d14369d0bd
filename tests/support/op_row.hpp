#pragma once

#include <functional>
#include <string>
#include <vector>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/runs.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

namespace mezzo_tests {

// The dtype of an operand or output of an op: the one that the test varies (T of docs/ops.md), its accumulation dtype
// (S of docs/ops.md), or a fixed one.
class Role {
 public:
  Role(mezzo::DType fixed) : kind_(Kind::fixed), fixed_(fixed) {}
  static Role varied() { return Role(Kind::varied); }
  static Role accumulated() { return Role(Kind::accumulated); }

  bool is_varied() const { return kind_ == Kind::varied; }
  bool is_fixed() const { return kind_ == Kind::fixed; }
  mezzo::DType in(mezzo::DType dtype) const {
    if (kind_ == Kind::fixed) return fixed_;
    return kind_ == Kind::varied ? dtype : mezzo::accumulation_dtype(dtype);
  }

 private:
  enum class Kind { fixed, varied, accumulated };
  explicit Role(Kind kind) : kind_(kind) {}
  Kind kind_;
  mezzo::DType fixed_ = mezzo::DType::float32;
};

// An operand: float64 numbers to be cast to the role's dtype. With a fixed role they have that dtype already.
struct Argument {
  mezzo::Tensor numbers;
  Role role = Role::varied();
};

// In units in the last place: half a unit, and a margin for results that are rounded to float32 first and then to a
// 16-bit float.
constexpr double rounded_once = 0.5 + 1.0 / 256;

// A row of the table of the conformance tests: an op, operands and expected outputs.
struct OpRow {
  std::string op;
  std::string note{};  // distinguishes rows of one op
  std::function<mezzo::Values(const mezzo::Values&)> call;
  std::vector<Argument> arguments;
  std::vector<Role> outputs;
  std::function<TensorList(const TensorList&)> plain;  // outputs by plain loops, in double or their fixed dtype
  std::vector<std::size_t> differentiable{};           // arguments for which the first output has a gradient
  double ulps = rounded_once;    // largest distance from the exact result, in units in the last place
  double depth = 0;              // number of products or terms in the sum for each element; 0: elementwise
  double bfloat16_error = 0;     // further distance allowed in bfloat16, to which kernels round factors of products
  double accumulated_error = 0;  // likewise of outputs in the accumulation dtype, if operands are bfloat16
  bool exact_on_integers = false;
  bool training = false;  // traced as a training step
  bool keeps = false;     // autocast does not cast its operands
  bool internal = false;  // inserted only by gradients and optimizers, so that no operand crosses a layer's border
};

inline std::string describe(const OpRow& row) { return row.op + (row.note.empty() ? "" : " " + row.note); }

// A call that an op rejects, with the whole error text.
struct Refusal {
  std::string op;
  std::function<void()> check;
};

template <class E>
Refusal refusal(const std::string& op, const std::string& text, std::function<void()> call) {
  return {op, [text, call] { check_throws<E>(text, call); }};
}

// The row's operands where T is `dtype`.
inline TensorList arguments_in(const OpRow& row, mezzo::DType dtype) {
  TensorList out;
  for (const Argument& argument : row.arguments) out.push_back(argument.numbers.cast(argument.role.in(dtype)));
  return out;
}

inline mezzo::Values values_of(const TensorList& tensors) { return {tensors.begin(), tensors.end()}; }

// Inserts a node of an op that has no function of its own.
inline std::function<mezzo::Values(const mezzo::Values&)> inserted(const std::string& op,
                                                                   const mezzo::Attributes& attributes = {}) {
  return [op, attributes](const mezzo::Values& x) { return insert(mezzo::find_op(op), x, attributes); };
}

// The same for gradient ops, which have an attribute "dtype".
inline std::function<mezzo::Values(const mezzo::Values&)> inserted_with_dtype(const std::string& op,
                                                                              const mezzo::Attributes& attributes,
                                                                              Role role) {
  return [op, attributes, role](const mezzo::Values& x) {
    mezzo::Attributes all = attributes;
    all.set("dtype", role.in(x[0].dtype()));
    return insert(mezzo::find_op(op), x, all);
  };
}

}  // namespace mezzo_tests
