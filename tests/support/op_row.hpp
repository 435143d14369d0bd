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

// The dtype of an operand or an output of an op: the one that the test varies (T of docs/ops.md), the one that sums of
// those are accumulated in (S), or always the same one.
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

// An operand: float64 numbers that are cast to its role's dtype, which they have already if that is fixed.
struct Argument {
  mezzo::Tensor numbers;
  Role role = Role::varied();
};

// What is correctly rounded in float32 may be rounded again to a 16-bit float, half a unit of float32 off.
constexpr double rounded_once = 0.5 + 1.0 / 256;

// An op with operands, and what it is to give: a row of the table that conformance tests go through.
struct OpRow {
  std::string op;
  std::string note{};  // tells apart rows of one op
  std::function<mezzo::Values(const mezzo::Values&)> call;
  std::vector<Argument> arguments;
  std::vector<Role> outputs;
  std::function<Tensors(const Tensors&)> plain;  // the outputs by plain loops in double, for fixed dtypes in them
  std::vector<std::size_t> differentiable{};     // arguments for which the first output has a gradient
  double ulps = rounded_once;  // how far the result may lie from the exact one, in units in its last place
  double depth = 0;            // of how many products or terms each number is the sum; 0: elementwise
  bool exact_on_integers = false;
  bool training = false;  // to be traced as a training step
  bool keeps = false;     // autocast leaves its operands alone
  bool internal = false;  // inserted by gradients and optimizers only, where nothing crosses a layer's border
};

inline std::string describe(const OpRow& row) { return row.op + (row.note.empty() ? "" : " " + row.note); }

// A call that an op refuses, with the whole text.
struct Refusal {
  std::string op;
  std::function<void()> check;
};

template <class E>
Refusal refusal(const std::string& op, const std::string& text, std::function<void()> call) {
  return {op, [text, call] { check_throws<E>(text, call); }};
}

// The row's operands where T is `dtype`.
inline Tensors arguments_in(const OpRow& row, mezzo::DType dtype) {
  Tensors out;
  for (const Argument& argument : row.arguments) out.push_back(argument.numbers.cast(argument.role.in(dtype)));
  return out;
}

inline mezzo::Values values_of(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }

// What a row inserts without a function of its own.
inline std::function<mezzo::Values(const mezzo::Values&)> inserted(const std::string& op,
                                                                   const mezzo::Attributes& attributes = {}) {
  return [op, attributes](const mezzo::Values& x) { return insert(mezzo::find_op(op), x, attributes); };
}

// The same for gradients that are given their dtype.
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
