#include <limits>

#include <mezzo/core/finfo.hpp>
#include <mezzo/onnx/export_node.hpp>

// Elementwise functions that are composed of several ONNX operators.
namespace mezzo::detail {
namespace {

std::string zero(const ExportedNode& x) { return x.like(x.in(), 0); }
std::string one(const ExportedNode& x) { return x.like(x.in(), 1); }

std::string is_less(const ExportedNode& x, const std::string& a, const std::string& b) {
  return x.add_as(DType::boolean, "Less", {a, b});
}
std::string is_equal(const ExportedNode& x, const std::string& a, const std::string& b) {
  return x.add_as(DType::boolean, "Equal", {a, b});
}
std::string choose(const ExportedNode& x, const std::string& condition, const std::string& a, const std::string& b) {
  return x.add_as(x.graph.dtype(a), "Where", {condition, a, b});
}

/// log(1 + x): log(u) x / (u - 1) with the rounded u = 1 + x, whose error the quotient takes back.
std::string log1p_of(const ExportedNode& x, const std::string& value) {
  const std::string u = x.add("Add", {value, one(x)}), rest = x.add("Sub", {u, one(x)});
  const std::string none = is_equal(x, rest, zero(x));
  const std::string log = x.add("Log", {u});
  const std::string corrected = x.add("Mul", {log, x.add("Div", {value, choose(x, none, one(x), rest)})});
  const std::string finite = choose(x, is_equal(x, u, value), log, corrected);  // also infinity
  return choose(x, none, value, finite);
}

ExportNames log1p(const ExportedNode& x) { return {log1p_of(x, x.in())}; }

/// exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2), for small x.
ExportNames expm1(const ExportedNode& x) {
  const std::string small = is_less(x, x.add("Abs", {x.in()}), one(x));
  const std::string t = x.add("Tanh", {x.add("Mul", {choose(x, small, x.in(), zero(x)), x.like(x.in(), 0.5)})});
  const std::string quotient = x.add("Div", {x.add("Add", {t, t}), x.add("Sub", {one(x), t})});
  return {choose(x, small, quotient, x.add("Sub", {x.add("Exp", {x.in()}), one(x)}))};
}

ExportNames exp2(const ExportedNode& x) { return {x.add("Pow", {x.like(x.in(), 2), x.in()})}; }

ExportNames log_of_base(const ExportedNode& x) {
  const double factor = x.node().op->name == "log2" ? 1.4426950408889634 : 0.4342944819032518;  // 1 / log(base)
  return {x.add("Mul", {x.add("Log", {x.in()}), x.like(x.in(), factor)})};
}

ExportNames cbrt(const ExportedNode& x) {
  const std::string root = x.add("Pow", {x.add("Abs", {x.in()}), x.like(x.in(), 1.0 / 3)});
  return {x.add("Mul", {x.add("Sign", {x.in()}), root})};
}

ExportNames erfc(const ExportedNode& x) { return {x.add("Sub", {one(x), x.add("Erf", {x.in()})})}; }

ExportNames hypot(const ExportedNode& x) {
  const std::string a = x.add("Abs", {x.in(0)}), b = x.add("Abs", {x.in(1)});
  const std::string most = x.add("Max", {a, b}), least = x.add("Min", {a, b});
  const std::string none = is_equal(x, most, zero(x));
  const std::string ratio = x.add("Div", {least, choose(x, none, one(x), most)});
  const std::string root = x.add("Sqrt", {x.add("Add", {one(x), x.add("Mul", {ratio, ratio})})});
  return {x.add("Mul", {most, root})};
}

ExportNames logaddexp(const ExportedNode& x) {
  const std::string difference = x.add("Neg", {x.add("Abs", {x.add("Sub", {x.in(0), x.in(1)})})});
  const std::string rest = log1p_of(x, x.add("Exp", {difference}));
  return {x.add("Add", {x.add("Max", {x.in(0), x.in(1)}), rest})};
}

/// Angle of the point (b, a): arctan(a / b), moved by pi on the left side.
ExportNames arctan2(const ExportedNode& x) {
  constexpr double pi = 3.141592653589793;
  const std::string &a = x.in(0), &b = x.in(1);
  const std::string none = is_equal(x, b, zero(x)), below = is_less(x, a, zero(x));
  const std::string angle = x.add("Atan", {x.add("Div", {a, choose(x, none, one(x), b)})});
  const std::string turn = choose(x, below, x.like(a, -pi), x.like(a, pi));
  const std::string side = choose(x, is_less(x, b, zero(x)), x.add("Add", {angle, turn}), angle);
  const std::string above = is_less(x, zero(x), a);
  const std::string quarter = choose(x, below, x.like(a, -pi / 2), zero(x));
  return {choose(x, none, choose(x, above, x.like(a, pi / 2), quarter), side)};
}

ExportNames nan_to_num(const ExportedNode& x) {
  const DType dtype = x.dtype();
  const double most = finfo(dtype).max;
  const auto& attributes = x.node().attributes;
  const double high = attributes.get_or("posinf", most), low = attributes.get_or("neginf", -most);
  const std::string nan = x.add_as(DType::boolean, "IsNaN", {x.in()});
  std::string out = choose(x, nan, x.like(x.in(), x.get<double>("nan")), x.in());
  const std::string infinity = x.like(x.in(), std::numeric_limits<double>::infinity());
  const std::string lowest = x.like(x.in(), -std::numeric_limits<double>::infinity());
  out = choose(x, is_equal(x, x.in(), infinity), x.like(x.in(), high), out);
  return {choose(x, is_equal(x, x.in(), lowest), x.like(x.in(), low), out)};
}

/// max(x - t, 0), where t follows from the largest elements of a line: those with 1 + k x_k > sum of the first k.
ExportNames sparsemax(const ExportedNode& x) {
  const std::int64_t axis = x.number("axis");
  const TracedNumber& length = x.shapes[0][static_cast<std::size_t>(axis)];
  if (!is_fixed(length)) x.refuse("an open axis");
  const std::int64_t count = length.front();
  const std::string wide = x.graph.cast(x.in(), accumulation_dtype(x.dtype()));
  const DType dtype = x.graph.dtype(wide);
  const ExportNames sorted =
      x.graph.add_many("TopK", {wide, x.graph.ints({count})}, {{"axis", axis}}, {dtype, DType::int64});
  const std::string at = x.graph.constant(Tensor::scalar(static_cast<double>(axis), DType::int64));
  const std::string sums = x.add("CumSum", {sorted[0], at});
  std::vector<double> places;
  for (std::int64_t k = 1; k <= count; ++k) places.push_back(static_cast<double>(k));
  Shape shape(x.rank(), 1);
  shape[static_cast<std::size_t>(axis)] = count;
  const std::string k = x.graph.constant(Tensor(shape, places).cast(dtype));
  const std::string bound = x.add("Add", {x.add("Mul", {k, sorted[0]}), x.graph.scalar(1, dtype)});
  const std::string inside = x.graph.cast(is_less(x, sums, bound), dtype);
  const std::string support = x.reduce("ReduceSum", inside, {axis}, true);
  const std::string total = x.reduce("ReduceSum", x.add("Mul", {sorted[0], inside}), {axis}, true);
  const std::string threshold = x.add("Div", {x.add("Sub", {total, x.graph.scalar(1, dtype)}), support});
  return {x.graph.cast(x.add("Relu", {x.add("Sub", {wide, threshold})}), x.dtype())};
}

}  // namespace

void add_function_rules(ExportRules& rules) {
  rules["log1p"] = log1p;
  rules["expm1"] = expm1;
  rules["exp2"] = exp2;
  rules["log2"] = rules["log10"] = log_of_base;
  rules["cbrt"] = cbrt;
  rules["erfc"] = erfc;
  rules["hypot"] = hypot;
  rules["logaddexp"] = logaddexp;
  rules["arctan2"] = arctan2;
  rules["nan_to_num"] = nan_to_num;
  rules["sparsemax"] = sparsemax;
}

}  // namespace mezzo::detail
