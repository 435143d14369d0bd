#include <mezzo/onnx/export_node.hpp>

// Matrix products and attention.
namespace mezzo::detail {
namespace {

/// x with its last two axes swapped.
std::string swapped(const ExportedNode& x, const std::string& value, std::size_t rank) {
  Shape permutation;
  for (std::size_t i = 0; i < rank; ++i) permutation.push_back(static_cast<std::int64_t>(i));
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return x.transpose(value, permutation);
}

ExportNames det(const ExportedNode& x) { return {x.add("Det", {x.in()})}; }

ExportNames matmul(const ExportedNode& x) {
  std::string a = x.in(0), b = x.in(1);
  if (x.get<bool>("transpose_a")) a = swapped(x, a, x.rank(0));
  if (x.get<bool>("transpose_b")) b = swapped(x, b, x.rank(1));
  // A product whose result is wider than its operands must not be rounded to their dtype.
  const DType dtype = promote(x.dtype(0), x.result_dtype());
  std::string y = x.add("MatMul", {x.graph.cast(a, dtype), x.graph.cast(b, dtype)});
  if (x.inputs.size() > 2) y = x.add("Add", {y, x.graph.cast(x.in(2), dtype)});
  return {x.graph.cast(x.finished(y), x.result_dtype())};
}

/// True for query positions that see a key position: (Q, K).
std::string causal_mask(const ExportedNode& x) {
  const auto places = [&](std::size_t operand) {
    const std::string count = x.sizes.scalar(x.shapes[operand][1], x.where());
    const std::string first = x.graph.constant(Tensor({}, std::vector<std::int64_t>{0}));
    const std::string step = x.graph.constant(Tensor({}, std::vector<std::int64_t>{1}));
    return x.add_as(DType::int64, "Range", {first, count, step});
  };
  return x.add_as(DType::boolean, "LessOrEqual", {places(1), x.unsqueeze(places(0), {1})});
}

/// softmax(scale query key^T + mask) value, with 0 for a query without a key. Axes (B, Q, H, D) become (B, H, Q, D).
ExportNames attention(const ExportedNode& x) {
  if (x.get<double>("rate") > 0) x.refuse("dropout");
  if (x.used.size() > 1 && x.used[1]) x.refuse("the logarithms of sums");
  const DType narrow = x.dtype(), wide = accumulation_dtype(narrow);
  const std::string query = x.graph.cast(x.transpose(x.in(0), {0, 2, 1, 3}), wide);
  const std::string key = x.graph.cast(x.transpose(x.in(1), {0, 2, 3, 1}), wide);
  const std::string value = x.graph.cast(x.transpose(x.in(2), {0, 2, 1, 3}), wide);
  const std::string scale = x.graph.scalar(x.get<double>("scale"), wide);
  std::string scores = x.add("MatMul", {x.add("Mul", {query, scale}), key});
  std::string seen;
  if (x.get<bool>("causal")) seen = causal_mask(x);
  if (x.get<bool>("masked")) {
    if (x.dtype(3) == DType::boolean) {
      seen = seen.empty() ? x.in(3) : x.add("And", {x.in(3), seen});
    } else {
      scores = x.add("Add", {scores, x.graph.cast(x.in(3), wide)});
    }
  }
  constexpr double unseen = -1e30;  // exp() of it is 0
  if (!seen.empty()) scores = x.add_as(wide, "Where", {seen, scores, x.graph.scalar(unseen, wide)});
  std::string weights = x.add("Softmax", {scores}, {{"axis", -1}});
  if (!seen.empty()) weights = x.add_as(wide, "Where", {seen, weights, x.graph.scalar(0, wide)});
  const std::string y = x.graph.cast(x.add("MatMul", {weights, value}), narrow);
  return {x.transpose(y, {0, 2, 1, 3}), ""};
}

}  // namespace

void add_product_rules(ExportRules& rules) {
  rules["matmul"] = matmul;
  rules["det"] = det;
  rules["scaled_dot_product_attention"] = attention;
}

}  // namespace mezzo::detail
