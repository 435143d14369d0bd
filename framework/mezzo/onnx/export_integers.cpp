#include <mezzo/onnx/export_node.hpp>

// Remainders and ops of bits.
namespace mezzo::detail {
namespace {

constexpr int bitwise_opset = 18;

struct Quotient {
  std::string none;     // true where the divisor is 0
  std::string divisor;  // 1 there
};

Quotient divisor_of(const ExportedNode& x) {
  const std::string none = x.add_as(DType::boolean, "Equal", {x.in(1), x.like(x.in(1), 0)});
  return {none, x.add_as(x.dtype(), "Where", {none, x.like(x.in(1), 1), x.in(1)})};
}

std::string or_zero(const ExportedNode& x, const Quotient& by, const std::string& result) {
  return x.add_as(x.dtype(), "Where", {by.none, x.like(x.in(), 0), result});
}

/// Remainder with the sign of the divisor, of floats: fmod plus the divisor where the signs differ.
std::string float_mod(const ExportedNode& x) {
  const std::string rest = x.add("Mod", {x.in(0), x.in(1)}, {{"fmod", 1}}), zero = x.like(x.in(), 0);
  const std::string turned = x.add_as(DType::boolean, "Less", {x.add("Mul", {x.add("Sign", {rest}), x.in(1)}), zero});
  return x.add_as(x.dtype(), "Where", {turned, x.add("Add", {rest, x.in(1)}), rest});
}

ExportNames mod(const ExportedNode& x) {
  if (is_floating(x.dtype())) return {float_mod(x)};
  const Quotient by = divisor_of(x);
  return {or_zero(x, by, x.add("Mod", {x.in(0), by.divisor}))};
}

ExportNames fmod(const ExportedNode& x) {
  if (is_floating(x.dtype())) return {x.add("Mod", x.inputs, {{"fmod", 1}})};
  const Quotient by = divisor_of(x);
  return {or_zero(x, by, x.add("Mod", {x.in(0), by.divisor}, {{"fmod", 1}}))};
}

ExportNames floor_divide(const ExportedNode& x) {
  if (is_floating(x.dtype())) {
    const std::string whole = x.add("Sub", {x.in(0), float_mod(x)});
    return {x.add("Round", {x.add("Div", {whole, x.in(1)})})};
  }
  const Quotient by = divisor_of(x);
  const std::string whole = x.add("Sub", {x.in(0), x.add("Mod", {x.in(0), by.divisor})});
  return {or_zero(x, by, x.add("Div", {whole, by.divisor}))};
}

ExportNames bits(const ExportedNode& x) {
  const std::string& op = x.node().op->name;
  const bool logical = x.dtype() == DType::boolean;
  const std::string name = op == "bitwise_and" ? "And" : op == "bitwise_or" ? "Or" : "Xor";
  if (!logical && x.graph.opset() < bitwise_opset) {
    x.refuse(fmt::format("integers (opset {} has it)", bitwise_opset));
  }
  return {x.add(logical ? name : "Bitwise" + name, x.inputs)};
}

ExportNames shift(const ExportedNode& x) {
  if (x.dtype() != DType::uint8) x.refuse("signed integers");
  const bool left = x.node().op->name == "left_shift";
  constexpr double width = 8;
  const std::string far = x.add_as(DType::boolean, "Less", {x.in(1), x.like(x.in(1), width)});
  const std::string shifted = x.add("BitShift", x.inputs, {{"direction", left ? "LEFT" : "RIGHT"}});
  return {x.add_as(x.dtype(), "Where", {far, shifted, x.like(x.in(), 0)})};
}

}  // namespace

void add_integer_rules(ExportRules& rules) {
  rules["mod"] = mod;
  rules["fmod"] = fmod;
  rules["floor_divide"] = floor_divide;
  rules["bitwise_and"] = rules["bitwise_or"] = rules["bitwise_xor"] = bits;
  rules["left_shift"] = rules["right_shift"] = shift;
}

}  // namespace mezzo::detail
