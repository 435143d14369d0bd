#include <algorithm>
#include <cmath>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Operators that compute element by element: of one operand, arithmetic, comparisons, bits.
namespace mezzo::detail {
namespace {

using Unary = Value (*)(const Value&);
using Binary = Value (*)(const Value&, const Value&);

OnnxOperator of_one(Unary f) {
  return {.run = [f](OnnxCall& call) { call.elementwise([f](const Values& xs) { return f(xs[0]); }); }};
}

/// Before opset 7, the axes of the second operand are those of the first one from `axis` on.
void broadcast_from_axis(OnnxCall& call, Binary f) {
  call.ignore("broadcast");
  const std::size_t rank = call.rank(0);
  Shape shape = call.shape(1);
  const auto axis = static_cast<std::size_t>(call.has_attribute("axis")
                                                 ? call.axis("axis", 0, rank)
                                                 : static_cast<std::int64_t>(rank - std::min(rank, shape.size())));
  if (axis + shape.size() > rank)
    call.refuse("operand 1 must fit from axis {} on; got shapes {} and {}", axis, call.shape(0), shape);
  shape.resize(rank - axis, 1);
  call.put(f(call.in(0), reshape(call.in(1), shape)));
}

OnnxOperator of_two(Binary f) {
  return {.run =
              [f](OnnxCall& call) {
                if (call.opset() < 7) return broadcast_from_axis(call, f);
                call.elementwise([f](const Values& xs) { return f(xs[0], xs[1]); });
              },
          .least = 2,
          .most = 2};
}

/// Folds any number of operands.
OnnxOperator of_many(Binary f, bool mean = false) {
  return {.run =
              [f, mean](OnnxCall& call) {
                call.elementwise([&](const Values& xs) {
                  Value out = xs[0];
                  for (std::size_t i = 1; i < xs.size(); ++i) out = f(out, xs[i]);
                  return mean ? out / static_cast<double>(xs.size()) : out;
                });
              },
          .least = 1,
          .most = OnnxOperator::any};
}

bool is_integer(const Value& x) { return !is_floating(x.dtype()); }

/// Integers divide with the quotient rounded towards 0.
Value onnx_divide(const Value& a, const Value& b) {
  if (!is_integer(a) || !is_integer(b)) return a / b;
  const Value down = floor_divide(a, b);
  const Value inexact = not_equal(down * b, a);
  const Value up = where(logical_and(inexact, not_equal(less(a, 0), less(b, 0))), down + 1, down);
  return up.weak() || a.weak() ? up : cast(up, a.dtype());
}

/// The result has the dtype of the base.
Value onnx_power(const Value& a, const Value& b) {
  if (b.weak()) {
    const double exponent = b.item();
    if (exponent == 2) return a * a;
    if (exponent == 0.5 && !is_integer(a)) return sqrt(a);
    if (exponent == 1) return a;
    if (is_integer(a) && exponent != std::floor(exponent)) return cast(power(cast(a, DType::float32), b), a.dtype());
  }
  if (a.weak() || b.weak()) return power(a, b);
  if (is_integer(a) && !is_integer(b)) return cast(power(cast(a, b.dtype()), b), a.dtype());
  return power(a, is_integer(b) && !is_integer(a) ? cast(b, a.dtype()) : b);
}

void run_mod(OnnxCall& call) {
  const bool fmod = call.integer("fmod", 0) != 0;
  call.elementwise([fmod](const Values& xs) { return fmod ? mezzo::fmod(xs[0], xs[1]) : mod(xs[0], xs[1]); });
}

void run_bit_shift(OnnxCall& call) {
  const std::string direction = call.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    call.refuse("direction must be \"LEFT\" or \"RIGHT\"; got \"{}\"", direction);
  }
  const bool left = direction == "LEFT";
  call.elementwise([left](const Values& xs) { return left ? left_shift(xs[0], xs[1]) : right_shift(xs[0], xs[1]); });
}

void run_is_inf(OnnxCall& call) {
  const bool negative = call.integer("detect_negative", 1) != 0, positive = call.integer("detect_positive", 1) != 0;
  call.elementwise([&](const Values& xs) -> Value {
    if (negative && positive) return isinf(xs[0]);
    if (negative) return isneginf(xs[0]);
    if (positive) return isposinf(xs[0]);
    return zeros_like(xs[0], DType::boolean);
  });
}

/// Condition of Where in the order of axes of the arrays.
void run_where(OnnxCall& call) {
  call.elementwise([&](const Values& xs) {
    const auto whole = [&](std::size_t i) { return xs[i].weak() ? call.in(i) : xs[i]; };
    const Value condition = xs[0].weak() ? call.in(0) : xs[0];
    const bool both = xs[1].weak() && xs[2].weak();
    return where(condition, both ? whole(1) : xs[1], both ? whole(2) : xs[2]);
  });
}

void add_unary(OnnxOperators& table) {
  table["Abs"] = of_one([](const Value& x) { return mezzo::abs(x); });
  table["Acos"] = of_one([](const Value& x) { return arccos(x); });
  table["Acosh"] = of_one([](const Value& x) { return arccosh(x); });
  table["Asin"] = of_one([](const Value& x) { return arcsin(x); });
  table["Asinh"] = of_one([](const Value& x) { return arcsinh(x); });
  table["Atan"] = of_one([](const Value& x) { return arctan(x); });
  table["Atanh"] = of_one([](const Value& x) { return arctanh(x); });
  table["BitwiseNot"] = of_one([](const Value& x) { return bitwise_not(x); });
  table["Ceil"] = of_one([](const Value& x) { return mezzo::ceil(x); });
  table["Cos"] = of_one([](const Value& x) { return mezzo::cos(x); });
  table["Cosh"] = of_one([](const Value& x) { return mezzo::cosh(x); });
  table["Erf"] = of_one([](const Value& x) { return mezzo::erf(x); });
  table["Exp"] = of_one([](const Value& x) { return mezzo::exp(x); });
  table["Floor"] = of_one([](const Value& x) { return mezzo::floor(x); });
  table["IsNaN"] = of_one([](const Value& x) { return mezzo::isnan(x); });
  table["Log"] = of_one([](const Value& x) { return mezzo::log(x); });
  table["Neg"] = of_one([](const Value& x) { return negative(x); });
  table["Not"] = of_one([](const Value& x) { return logical_not(x); });
  table["Reciprocal"] = of_one([](const Value& x) { return reciprocal(x); });
  table["Round"] = of_one([](const Value& x) { return mezzo::round(x); });
  table["Sign"] = of_one([](const Value& x) { return sign(x); });
  table["Sin"] = of_one([](const Value& x) { return mezzo::sin(x); });
  table["Sinh"] = of_one([](const Value& x) { return mezzo::sinh(x); });
  table["Sqrt"] = of_one([](const Value& x) { return mezzo::sqrt(x); });
  table["Tan"] = of_one([](const Value& x) { return mezzo::tan(x); });
}

}  // namespace

void add_onnx_elementwise(OnnxOperators& table) {
  add_unary(table);
  table["IsInf"] = {.run = run_is_inf};
  table["Add"] = of_two([](const Value& a, const Value& b) { return a + b; });
  table["Sub"] = of_two([](const Value& a, const Value& b) { return a - b; });
  table["Mul"] = of_two([](const Value& a, const Value& b) { return a * b; });
  table["Div"] = of_two(onnx_divide);
  table["Pow"] = of_two(onnx_power);
  table["Mod"] = {.run = run_mod, .least = 2, .most = 2};
  table["Max"] = of_many([](const Value& a, const Value& b) { return maximum(a, b); });
  table["Min"] = of_many([](const Value& a, const Value& b) { return minimum(a, b); });
  table["Sum"] = of_many([](const Value& a, const Value& b) { return a + b; });
  table["Mean"] = of_many([](const Value& a, const Value& b) { return a + b; }, true);
  table["Equal"] = of_two([](const Value& a, const Value& b) { return equal(a, b); });
  table["Less"] = of_two([](const Value& a, const Value& b) { return less(a, b); });
  table["LessOrEqual"] = of_two([](const Value& a, const Value& b) { return less_equal(a, b); });
  table["Greater"] = of_two([](const Value& a, const Value& b) { return greater(a, b); });
  table["GreaterOrEqual"] = of_two([](const Value& a, const Value& b) { return greater_equal(a, b); });
  table["And"] = of_two([](const Value& a, const Value& b) { return logical_and(a, b); });
  table["Or"] = of_two([](const Value& a, const Value& b) { return logical_or(a, b); });
  table["Xor"] = of_two([](const Value& a, const Value& b) { return logical_xor(a, b); });
  table["BitwiseAnd"] = of_two([](const Value& a, const Value& b) { return bitwise_and(a, b); });
  table["BitwiseOr"] = of_two([](const Value& a, const Value& b) { return bitwise_or(a, b); });
  table["BitwiseXor"] = of_two([](const Value& a, const Value& b) { return bitwise_xor(a, b); });
  table["BitShift"] = {.run = run_bit_shift, .least = 2, .most = 2};
  table["Where"] = {.run = run_where, .least = 3, .most = 3};
}

}  // namespace mezzo::detail
