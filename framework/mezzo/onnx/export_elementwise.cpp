#include <limits>

#include <mezzo/onnx/export_node.hpp>

// Elementwise ops with an ONNX operator of their own, and short compositions.
namespace mezzo::detail {
namespace {

/// ONNX's operators by the names of ops with the same result.
const std::map<std::string, const char*, std::less<>>& operators() {
  static const std::map<std::string, const char*, std::less<>> names{
      {"abs", "Abs"},       {"add", "Add"},           {"arccos", "Acos"},     {"arccosh", "Acosh"}, {"arcsin", "Asin"},
      {"arcsinh", "Asinh"}, {"arctan", "Atan"},       {"arctanh", "Atanh"},   {"ceil", "Ceil"},     {"cos", "Cos"},
      {"cosh", "Cosh"},     {"divide", "Div"},        {"erf", "Erf"},         {"exp", "Exp"},       {"floor", "Floor"},
      {"log", "Log"},       {"logical_not", "Not"},   {"maximum", "Max"},     {"minimum", "Min"},   {"multiply", "Mul"},
      {"negative", "Neg"},  {"round", "Round"},       {"sigmoid", "Sigmoid"}, {"sign", "Sign"},     {"sin", "Sin"},
      {"sinh", "Sinh"},     {"softplus", "Softplus"}, {"sqrt", "Sqrt"},       {"subtract", "Sub"},  {"tan", "Tan"},
      {"tanh", "Tanh"},     {"power", "Pow"}};
  return names;
}

/// Comparisons and operators of bools, whose result is bool.
const std::map<std::string, const char*, std::less<>>& predicates() {
  static const std::map<std::string, const char*, std::less<>> names{{"equal", "Equal"},
                                                                     {"less", "Less"},
                                                                     {"less_equal", "LessOrEqual"},
                                                                     {"logical_and", "And"},
                                                                     {"logical_or", "Or"}};
  return names;
}

ExportNames direct(const ExportedNode& x) { return {x.add(operators().find(x.node().op->name)->second, x.inputs)}; }

ExportNames predicate(const ExportedNode& x) {
  return {x.add_as(DType::boolean, predicates().find(x.node().op->name)->second, x.inputs)};
}

/// Products and sums of bools, which ONNX's operators don't take.
ExportNames arithmetic(const ExportedNode& x) {
  if (x.dtype() != DType::boolean) return direct(x);
  const std::string& op = x.node().op->name;
  if (op == "multiply" || op == "minimum") return {x.add("And", x.inputs)};
  if (op == "add" || op == "maximum") return {x.add("Or", x.inputs)};
  x.refuse("bools");
}

ExportNames same(const ExportedNode& x) { return {x.in()}; }

ExportNames cast_to(const ExportedNode& x) { return {x.graph.cast(x.in(), x.graph.written(x.get<DType>("dtype")))}; }

ExportNames relu(const ExportedNode& x) {
  if (!x.node().attributes.has("max_value")) return {x.add("Relu", {x.in()})};
  const std::string most = x.like(x.in(), x.get<double>("max_value"));
  return {x.add("Min", {x.add("Max", {x.in(), x.like(x.in(), 0)}), most})};
}

ExportNames gelu(const ExportedNode& x) {
  const std::string half = x.add("Mul", {x.in(), x.like(x.in(), 0.5)}), one = x.like(x.in(), 1);
  if (x.get<bool>("approximate")) {
    const std::string square = x.add("Mul", {x.in(), x.in()}), cube = x.add("Mul", {square, x.in()});
    const std::string sum = x.add("Add", {x.in(), x.add("Mul", {cube, x.like(x.in(), 0.044715)})});
    const std::string inner = x.add("Mul", {sum, x.like(x.in(), 0.7978845608028654)});  // sqrt(2 / pi)
    return {x.add("Mul", {half, x.add("Add", {x.add("Tanh", {inner}), one})})};
  }
  const std::string scaled = x.add("Mul", {x.in(), x.like(x.in(), 0.7071067811865476)});  // 1 / sqrt(2)
  return {x.add("Mul", {half, x.add("Add", {x.add("Erf", {scaled}), one})})};
}

ExportNames silu(const ExportedNode& x) { return {x.add("Mul", {x.in(), x.add("Sigmoid", {x.in()})})}; }

ExportNames rsqrt(const ExportedNode& x) { return {x.add("Reciprocal", {x.add("Sqrt", {x.in()})})}; }

ExportNames where(const ExportedNode& x) { return {x.graph.add_as(x.dtype(1), "Where", x.inputs)}; }

ExportNames softmax(const ExportedNode& x) {
  const bool log = x.node().op->name == "log_softmax";
  return {x.add(log ? "LogSoftmax" : "Softmax", {x.in()}, {{"axis", x.number("axis")}})};
}

ExportNames trunc(const ExportedNode& x) {
  return {x.add("Mul", {x.add("Sign", {x.in()}), x.add("Floor", {x.add("Abs", {x.in()})})})};
}

}  // namespace

void add_elementwise_rules(ExportRules& rules) {
  for (const auto& [name, op] : operators()) rules[name] = direct;
  for (const auto& [name, op] : predicates()) rules[name] = predicate;
  for (const char* name : {"add", "multiply", "maximum", "minimum", "subtract"}) rules[name] = arithmetic;
  for (const char* name : {"identity", "stop_gradient", "print", "custom_gradient"}) rules[name] = same;
  rules["cast"] = cast_to;
  rules["relu"] = relu;
  rules["gelu"] = gelu;
  rules["silu"] = silu;
  rules["rsqrt"] = rsqrt;
  rules["where"] = where;
  rules["softmax"] = rules["log_softmax"] = softmax;
  rules["trunc"] = trunc;
}

}  // namespace mezzo::detail
