#include <algorithm>

#include <mezzo/onnx/export_node.hpp>

// Products with quantized weights and their numbers. Codes stay integers in the file.
namespace mezzo::detail {
namespace {

constexpr int int4_opset = 21;  // first one with arrays of 4 bits and scales of blocks

/// Codes of a node with their scales: operands of dequantize, or those of quantized_matmul behind the first.
struct Codes {
  const ExportedNode& x;
  std::size_t first;  // operand with the codes
  std::int64_t bits, columns, block;
  Shape axes;  // that share a scale

  const std::string& codes() const { return x.in(first); }
  const std::string& scale() const { return x.in(first + 1); }
  const std::string& zero() const { return x.in(first + 2); }
  bool has_zero() const { return block > 0; }
  std::size_t rank() const { return x.rank(first); }
};

Codes codes_of(const ExportedNode& x, std::size_t first, Shape axes) {
  if (x.node().attributes.get_or("nf4", false)) x.refuse("weights of NF4");
  return {x, first, x.number("bits"), x.number("columns"), x.number("block_size"), std::move(axes)};
}

/// 1 / scale: ONNX's scales multiply codes, those of the model divide them.
std::string reciprocal(const Codes& q) {
  const Tensor* const scale = q.x.graph.array(q.scale());
  if (scale == nullptr) return q.x.add("Reciprocal", {q.scale()});
  const std::string name = q.scale() + "_reciprocal";
  if (q.x.graph.array(name) != nullptr) return name;
  Tensor inverse = Tensor::uninitialized(scale->shape(), DType::float32);
  const auto* from = scale->data<float>();
  auto* to = inverse.mutable_data<float>();
  for (std::int64_t i = 0; i < scale->size(); ++i) to[i] = 1 / from[i];
  return q.x.graph.weight(name, inverse);
}

/// Codes of 4 bits as int32, of bytes with two of them: (..., bytes) as (..., columns).
std::string unpacked(const Codes& q, const std::string& bytes, std::size_t rank) {
  const ExportedNode& x = q.x;
  const std::string pairs = x.graph.cast(bytes, DType::int32);
  const std::string bound = x.like(pairs, 8), count = x.like(pairs, 16);
  const std::string low = x.add("Mod", {pairs, count});  // 0 to 15
  const std::string high = x.add("Div", {x.add("Sub", {pairs, low}), count});
  const std::string positive = x.add_as(DType::boolean, "Less", {low, bound});
  const std::string even = x.add_as(DType::int32, "Where", {positive, low, x.add("Sub", {low, count})});
  const auto last = static_cast<std::int64_t>(rank);
  const std::string both = x.add("Concat", {x.unsqueeze(even, {last}), x.unsqueeze(high, {last})}, {{"axis", last}});
  Shape shape(rank, 0);  // 0: that of the operand
  shape.back() = q.columns + q.columns % 2;
  const std::string rows = x.add("Reshape", {both, x.graph.ints(shape)});
  return q.columns % 2 == 0 ? rows : x.piece(rows, last - 1, 0, q.columns);
}

/// The array with two codes a byte.
std::string packed(ExportGraph& graph, const std::string& codes) {
  const std::string name = codes + "_packed";
  return graph.array(name) != nullptr ? name : graph.weight(name, packed_codes(*graph.array(codes)));
}

/// True if the codes are an array that the file holds with 4 bits a number. A table whose rows are gathered is packed
/// in bytes, since ONNX gathers no numbers of 4 bits.
bool is_int4_array(const Codes& q) {
  const ExportGraph& graph = q.x.graph;
  return graph.opset() >= int4_opset && graph.is_int4(q.codes()) && graph.array(q.codes() + "_packed") == nullptr;
}

/// The codes as integers: int8, or int32 of 4 bits.
std::string integers(const Codes& q) {
  if (q.bits == 8) return q.codes();
  const bool whole = q.x.graph.is_int4(q.codes());
  return unpacked(q, whole ? packed(q.x.graph, q.codes()) : q.codes(), q.rank());
}

/// Numbers of blocks for each row or column of a matrix, along the axis that shares scales.
std::string spread(const Codes& q, const std::string& numbers) {
  const std::size_t axis = static_cast<std::size_t>(q.axes.front());
  if (q.x.graph.array(numbers) == nullptr || !q.x.graph.is_int4(q.codes())) {  // gathered rows
    Shape blocks;
    for (std::int64_t i = 0; i < q.columns; ++i) blocks.push_back(i / q.block);
    return q.x.add("Gather", {numbers, q.x.graph.ints(blocks)}, {{"axis", q.axes.front()}});
  }
  const Shape& shape = q.x.graph.array(q.codes())->shape();
  Shape blocks;
  for (std::int64_t i = 0; i < shape[axis]; ++i) blocks.push_back(i / q.block);
  return q.x.add("Gather", {numbers, q.x.graph.ints(blocks)}, {{"axis", q.axes.front()}});
}

/// The numbers as float32, by ONNX's elementwise operators.
std::string dequantized_by_parts(const Codes& q) {
  const ExportedNode& x = q.x;
  const std::string codes = x.graph.cast(integers(q), DType::float32);
  if (!q.has_zero()) return x.add("Div", {codes, x.unsqueeze(q.scale(), q.axes)});
  const std::string zero = x.graph.cast(spread(q, q.zero()), DType::float32);
  return x.add("Mul", {x.add("Sub", {codes, zero}), spread(q, q.scale())});
}

/// The axis that is left if all others share a scale; -1: there are several.
std::int64_t axis_of_scales(const Codes& q) {
  std::int64_t out = -1;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(q.rank()); ++axis) {
    if (std::find(q.axes.begin(), q.axes.end(), axis) != q.axes.end()) continue;
    if (out >= 0) return -1;
    out = axis;
  }
  return out;
}

/// Numbers of 4 bits with scales of blocks, in an array of the file.
std::string dequantized_blocks(const Codes& q) {
  const ExportedNode& x = q.x;
  const std::int64_t axis = q.axes.front();
  const Tensor& scale = *x.graph.array(q.scale());
  x.graph.mark_int4(q.zero());
  if (scale.shape()[static_cast<std::size_t>(axis)] > 1) {
    return x.add_as(DType::float32, "DequantizeLinear", {q.codes(), q.scale(), q.zero()},
                    {{"axis", axis}, {"block_size", q.block}});
  }
  const auto flat = [&](const std::string& name) {  // one block: a scale for each index of the other axis
    const Tensor& all = *x.graph.array(name);
    const std::string vector = name + "_vector";
    return x.graph.array(vector) != nullptr ? vector : x.graph.weight(vector, all.reshape({all.size()}));
  };
  const std::string zero = flat(q.zero());
  x.graph.mark_int4(zero);
  return x.add_as(DType::float32, "DequantizeLinear", {q.codes(), flat(q.scale()), zero}, {{"axis", 1 - axis}});
}

/// The numbers as float32.
std::string dequantized(const Codes& q) {
  const std::int64_t axis = axis_of_scales(q);
  if (q.bits == 4 && is_int4_array(q) && q.has_zero()) return dequantized_blocks(q);
  const bool direct =
      q.bits == 4 ? is_int4_array(q) : axis >= 0 && q.x.node().inputs[q.first].node()->op->name != "gather";
  if (!direct || axis < 0) return dequantized_by_parts(q);
  return q.x.add_as(DType::float32, "DequantizeLinear", {q.codes(), reciprocal(q)}, {{"axis", axis}});
}

ExportNames dequantize(const ExportedNode& x) {
  const std::string numbers = dequantized(codes_of(x, 0, x.get<Shape>("axes")));
  std::string out = numbers;
  if (x.node().attributes.has("shape") && x.get<Shape>("shape").size() != x.rank()) {
    out = x.add("Reshape", {numbers, x.graph.ints(x.fixed("shape"))});
  }
  return {x.graph.cast(out, x.result_dtype())};
}

/// Inputs of a product as codes, and their scale, which multiplies on quantization.
struct RowCodes {
  std::string codes, scale;
};

std::string rounded(const ExportedNode& x, const std::string& input, const std::string& scale) {
  constexpr double limit = 127;
  return x.add("Clip", {x.add("Round", {x.add("Mul", {input, scale})}), x.like(input, -limit), x.like(input, limit)});
}

/// 0, or NaN for numbers with NaN or infinity along the axes: a row's or an image's.
std::string faults(const ExportedNode& x, const std::string& input, const Shape& axes) {
  return x.reduce("ReduceSum", x.add("Mul", {input, x.like(input, 0)}), axes, true);
}

/// Codes of numbers by the largest magnitude along the axes. The scale is NaN if there is NaN or infinity.
RowCodes codes_by_maximum(const ExportedNode& x, const std::string& input, const Shape& axes) {
  const std::string most = x.reduce("ReduceMax", x.add("Abs", {input}), axes, true);
  const std::string scale = x.add("Div", {x.like(input, 127), x.add("Add", {most, x.like(input, 1e-7)})});
  return {rounded(x, input, scale), x.add("Add", {scale, faults(x, input, axes)})};
}

Shape last_axis(const ExportedNode& x) { return {static_cast<std::int64_t>(x.rank()) - 1}; }
const Shape image_axes{1, 2, 3};

/// The weight as a float32 matrix (in, out).
std::string weight_of(const ExportedNode& x, const Codes& q) {
  const std::string weight = dequantized(q);
  return x.get<bool>("transpose_b") ? x.transpose(weight, {1, 0}) : weight;
}

/// Inputs rounded with one scale, by QuantizeLinear and DequantizeLinear.
std::string rounded_by_scale(const ExportedNode& x, const std::string& input) {
  const Tensor scale = *x.graph.array(x.inputs.back());
  const float step = 1 / scale.data<float>()[0];
  const std::string steps = x.graph.scalar(step, DType::float32);
  const std::string zero = x.graph.constant(Tensor({}, DType::int8));
  const std::string most = x.like(input, 127 * static_cast<double>(step)),
                    least = x.like(input, -127 * static_cast<double>(step));
  const std::string codes = x.add_as(DType::int8, "QuantizeLinear", {x.add("Clip", {input, least, most}), steps, zero});
  return x.add_as(DType::float32, "DequantizeLinear", {codes, steps, zero});
}

/// A product of inputs with one scale.
std::string static_product(const ExportedNode& x, const std::string& input, const Codes& q) {
  const std::string product = x.add("MatMul", {rounded_by_scale(x, input), weight_of(x, q)});
  return x.add("Add", {product, faults(x, input, last_axis(x))});
}

/// A product of rows with scales of their own.
std::string dynamic_product(const ExportedNode& x, const std::string& input, const Codes& q) {
  const RowCodes rows = codes_by_maximum(x, input, last_axis(x));
  if (q.has_zero()) return x.add("Div", {x.add("MatMul", {rows.codes, weight_of(x, q)}), rows.scale});
  std::string codes = x.graph.cast(integers(q), DType::int8);
  if (x.get<bool>("transpose_b")) codes = x.transpose(codes, {1, 0});
  const std::string sums = x.add_as(DType::int32, "MatMulInteger", {x.graph.cast(rows.codes, DType::int8), codes});
  return x.add("Div", {x.graph.cast(sums, DType::float32), x.add("Mul", {rows.scale, q.scale()})});
}

ExportNames quantized_matmul(const ExportedNode& x) {
  const Codes q = codes_of(x, 1, {x.get<bool>("transpose_b") ? 1 : 0});
  const std::string activations = x.get<std::string>("activations");
  const std::string input = x.graph.cast(x.in(0), DType::float32);
  const std::string y = activations == "none"     ? x.add("MatMul", {input, weight_of(x, q)})
                        : activations == "static" ? static_product(x, input, q)
                                                  : dynamic_product(x, input, q);
  return {x.graph.cast(x.finished(y), x.result_dtype())};
}

/// Codes are multiplied as floats, which hold their sums.
ExportNames quantized_conv2d(const ExportedNode& x) {
  const Codes q{x, 1, 8, x.fixed_shape(1).back(), -1, {0, 1, 2}};
  const std::string input = x.graph.cast(x.in(0), DType::float32), kernel = dequantized(q);
  std::string y;
  if (x.get<std::string>("activations") == "static") {
    // DequantizeLinear right before Conv: ONNX Runtime 1.32 moves it over a Transpose, with a wrong type in opset 21.
    const std::string turned = rounded_by_scale(x, x.transpose(input, {0, 3, 1, 2}));
    const std::string images = x.transpose(turned, {0, 2, 3, 1});
    y = x.add("Add", {exported_convolution(x, images, kernel, ""), faults(x, input, image_axes)});
  } else {
    const RowCodes images = codes_by_maximum(x, input, image_axes);
    y = x.add("Div", {exported_convolution(x, images.codes, kernel, ""), images.scale});
  }
  return {x.graph.cast(x.finished(y), x.result_dtype())};
}

ExportNames refuse_float8(const ExportedNode& x) {
  fail<ValueError>(x.where(),
                   "export_onnx: products in float8 can't be exported; load the weights into a model of floats first");
}

}  // namespace

Tensor packed_codes(const Tensor& codes) {
  const std::int64_t columns = codes.shape().back(), rows = columns == 0 ? 0 : codes.size() / columns;
  const std::int64_t bytes = (columns + 1) / 2;
  Tensor out({rows, bytes}, DType::int8);
  const auto* from = codes.data<std::int8_t>();
  auto* to = out.mutable_data<std::int8_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const int half = *from++ & 15;
      std::int8_t& pair = to[row * bytes + column / 2];
      pair = static_cast<std::int8_t>(pair | (column % 2 == 0 ? half : half << 4));
    }
  }
  return out;
}

std::string gathered_codes(const ExportedNode& x) { return packed(x.graph, x.in(0)); }

void add_quantized_rules(ExportRules& rules) {
  rules["dequantize"] = dequantize;
  rules["quantize_and_dequantize"] = refuse_float8;
  rules["quantized_conv2d"] = quantized_conv2d;
  rules["quantized_matmul"] = quantized_matmul;
}

}  // namespace mezzo::detail
