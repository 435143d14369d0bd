#include <mezzo/training/keras_files/keras_operations.hpp>

#include <algorithm>
#include <iterator>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/activations.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/basic_ops.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/sorting.hpp>

namespace mezzo::detail {
namespace {

ReduceOptions axes_of(const KerasOptions& options) {
  return {.axes = options.integers("axis"), .keepdims = options.flag("keepdims")};
}

/// argmax or argmin.
Value index_along(Value (*function)(const Value&, std::int64_t), const Value& x, const KerasOptions& options) {
  const std::optional<std::int64_t> axis = options.axis();
  const Value found = axis ? function(x, *axis) : function(ravel(x), -1);
  if (!options.flag("keepdims")) return found;
  if (axis) return expand_dims(found, *axis);
  return reshape(found, Shape(x.shape().size(), 1));
}

Value padded(const Value& x, const KerasOptions& options) {
  const std::string what = options.where() + " pad_width";
  std::vector<Shape> pairs;
  const Json widths = options.value("pad_width");
  for (const Json& pair : without_tuple(widths)) {
    Shape sizes;
    for (const Json& size : without_tuple(pair)) sizes.push_back(read_size(size, what));
    if (sizes.size() != 2) fail<ValueError>(what, "must have pairs of numbers; got {}", excerpt(pair));
    pairs.push_back(sizes);
  }
  if (pairs.size() == 1) pairs.resize(x.shape().size(), pairs.front());
  PadOptions pads{.mode = options.text("mode"), .constant_values = options.number("constant_values", 0.0)};
  for (const Shape& pair : pairs) {
    pads.before.push_back(pair[0]);
    pads.after.push_back(pair[1]);
  }
  return pad(x, pads);
}

Values pieces(const Value& x, const KerasOptions& options) {
  const Json sections = options.value("indices_or_sections");
  const std::int64_t axis = options.integer("axis", 0);
  if (sections.is_number()) return split_evenly(x, options.integer("indices_or_sections", 1), axis);
  return array_split(x, options.integers("indices_or_sections"), axis);
}

Value norm_of(const Value& x, const KerasOptions& options) {
  NormOptions norms{.axes = options.integers("axis"), .keepdims = options.flag("keepdims")};
  const Json order = options.value("ord");
  if (order.is_string() && order != "inf" && order != "-inf") {
    norms.ord = NormOrder(order.get<std::string>());
  } else if (!order.is_null()) {
    norms.ord = NormOrder(read_double(order, options.where() + " ord"));
  }
  return norm(x, norms);
}

/// Throws for a repeated axis of too many elements.
Ints repeats_of(const Value& x, const KerasOptions& options) {
  const Shape repeats = options.integers("repeats"), shape = x.shape();
  std::int64_t most = 1;
  for (const std::int64_t count : repeats) most = std::max(most, count);
  for (const std::int64_t size : shape) require_operation_elements(options.where(), size * most);
  return Ints(repeats);
}

/// The last two axes of x, for a mask of them.
const Value& matrix_of(const Value& x, const KerasOptions& options) {
  const Shape shape = x.shape();
  if (shape.size() >= 2) require_operation_elements(options.where(), shape.back() * shape[shape.size() - 2]);
  return x;
}

Value hot(const Value& x, const KerasOptions& options) {
  if (options.flag("sparse")) fail<ValueError>(options.where(), "sparse must be false; got true");
  const Json dtype = options.value("dtype");
  require_operation_elements(options.where(), options.integer("num_classes", 0));
  return one_hot(x, options.integer("num_classes", 0), options.integer("axis", -1),
                 dtype.is_null() ? DType::float32 : dtype_from_name(options.text("dtype")));
}

Value dots(const Values& xs, const KerasOptions& options) {
  const Json given = options.value("axes");
  const Json& axes = without_tuple(given);
  if (!axes.is_array()) return tensordot(xs[0], xs[1], options.integer("axes", 2));
  const auto side = [&](std::size_t i) {
    const Json& one = without_tuple(axes.at(i));
    Shape out;
    for (const Json& axis : one.is_array() ? one : Json::array({one})) {
      out.push_back(read_size(axis, options.where() + " axes"));
    }
    return Ints(out);
  };
  if (axes.size() != 2) fail<ValueError>(options.where(), "axes must be a number or a pair; got {}", excerpt(axes));
  return tensordot(xs[0], xs[1], side(0), side(1));
}

using Xs = const Values&;
using Options = const KerasOptions&;

#define MEZZO_UNARY(name, module, function)                                             \
  {                                                                                     \
#name, module, 1, [](Xs xs, Options) -> Values { return {mezzo::function(xs[0])}; } \
  }
#define MEZZO_REDUCTION(name, module, function)                                                       \
  {                                                                                                   \
#name, module, 1, [](Xs xs, Options o) -> Values { return {mezzo::function(xs[0], axes_of(o))}; } \
  }

const KerasOperation operations[] = {
    {"Argmax", "numpy", 1, [](Xs xs, Options o) -> Values { return {index_along(mezzo::argmax, xs[0], o)}; }},
    {"Argmin", "numpy", 1, [](Xs xs, Options o) -> Values { return {index_along(mezzo::argmin, xs[0], o)}; }},
    {"Argsort", "numpy", 1, [](Xs xs, Options o) -> Values { return {argsort(xs[0], o.axis())}; }},
    {"BroadcastTo", "numpy", 1, [](Xs xs, Options o) -> Values { return {broadcast_to(xs[0], o.integers("shape"))}; }},
    {"Celu", "nn", 1, [](Xs xs, Options o) -> Values { return {celu(xs[0], o.number("alpha", 1.0))}; }},
    {"Clip", "numpy", 1,
     [](Xs xs, Options o) -> Values { return {clip(xs[0], o.number("x_min"), o.number("x_max"))}; }},
    {"Copy", "numpy", 1, [](Xs xs, Options) -> Values { return {identity(xs[0])}; }},
    {"Cumprod", "numpy", 1, [](Xs xs, Options o) -> Values { return {cumprod(xs[0], o.axis())}; }},
    {"Cumsum", "numpy", 1, [](Xs xs, Options o) -> Values { return {cumsum(xs[0], o.axis())}; }},
    {"Dot", "numpy", 2, [](Xs xs, Options) -> Values { return {dot(xs[0], xs[1])}; }},
    {"Einsum", "numpy", 1, [](Xs xs, Options o) -> Values { return {einsum(o.text("subscripts"), xs)}; }},
    {"Elu", "nn", 1, [](Xs xs, Options o) -> Values { return {elu(xs[0], o.number("alpha", 1.0))}; }},
    {"ExpandDims", "numpy", 1,
     [](Xs xs, Options o) -> Values { return {expand_dims(xs[0], Ints(o.integers("axis")))}; }},
    {"Flip", "numpy", 1, [](Xs xs, Options o) -> Values { return {flip(xs[0], Ints(o.integers("axis")))}; }},
    {"GetItem", "numpy", 1,
     [](Xs xs, Options o) -> Values { return {item_of_keras(xs[0], o.value("key"), o.where())}; }},
    {"Glu", "nn", 1, [](Xs xs, Options o) -> Values { return {glu(xs[0], o.integer("axis", -1))}; }},
    {"HardShrink", "nn", 1,
     [](Xs xs, Options o) -> Values { return {hard_shrink(xs[0], o.number("threshold", 0.5))}; }},
    MEZZO_UNARY(HardSigmoid, "nn", hard_sigmoid),
    MEZZO_UNARY(HardSilu, "nn", hard_silu),
    MEZZO_UNARY(HardTanh, "nn", hard_tanh),
    {"Inner", "numpy", 2, [](Xs xs, Options) -> Values { return {inner(xs[0], xs[1])}; }},
    MEZZO_UNARY(Isfinite, "numpy", isfinite),
    MEZZO_UNARY(Isinf, "numpy", isinf),
    MEZZO_UNARY(Isnan, "numpy", isnan),
    {"LeakyRelu", "nn", 1,
     [](Xs xs, Options o) -> Values { return {leaky_relu(xs[0], o.number("negative_slope", 0.2))}; }},
    MEZZO_UNARY(LogSigmoid, "nn", log_sigmoid),
    {"LogSoftmax", "nn", 1, [](Xs xs, Options o) -> Values { return {log_softmax(xs[0], o.integer("axis", -1))}; }},
    {"LogicalXor", "numpy", 2, [](Xs xs, Options) -> Values { return {logical_xor(xs[0], xs[1])}; }},
    MEZZO_REDUCTION(Logsumexp, "math", logsumexp),
    MEZZO_REDUCTION(Median, "numpy", median),
    {"Moveaxis", "numpy", 1,
     [](Xs xs, Options o) -> Values {
       return {moveaxis(xs[0], Ints(o.integers("source")), Ints(o.integers("destination")))};
     }},
    {"Norm", "linalg", 1, [](Xs xs, Options o) -> Values { return {norm_of(xs[0], o)}; }},
    {"Normalize", "nn", 1,
     [](Xs xs, Options o) -> Values {
       return {normalize(xs[0], o.integer("axis", -1), o.number("order", 2.0), o.number("epsilon", 1e-7))};
     }},
    {"OneHot", "nn", 1, [](Xs xs, Options o) -> Values { return {hot(xs[0], o)}; }},
    MEZZO_UNARY(OnesLike, "numpy", ones_like),
    {"Outer", "numpy", 2, [](Xs xs, Options) -> Values { return {outer(xs[0], xs[1])}; }},
    {"Pad", "numpy", 1, [](Xs xs, Options o) -> Values { return {padded(xs[0], o)}; }},
    MEZZO_REDUCTION(Prod, "numpy", prod),
    MEZZO_UNARY(Ravel, "numpy", ravel),
    MEZZO_UNARY(Reciprocal, "numpy", reciprocal),
    MEZZO_UNARY(Relu6, "nn", relu6),
    {"Repeat", "numpy", 1, [](Xs xs, Options o) -> Values { return {repeat(xs[0], repeats_of(xs[0], o), o.axis())}; }},
    {"Roll", "numpy", 1,
     [](Xs xs, Options o) -> Values { return {roll(xs[0], Ints(o.integers("shift")), Ints(o.integers("axis")))}; }},
    {"Round", "numpy", 1, [](Xs xs, Options o) -> Values { return {round(xs[0], o.integer("decimals", 0))}; }},
    MEZZO_UNARY(Selu, "nn", selu),
    {"SoftShrink", "nn", 1,
     [](Xs xs, Options o) -> Values { return {soft_shrink(xs[0], o.number("threshold", 0.5))}; }},
    MEZZO_UNARY(Softsign, "nn", softsign),
    {"Sort", "numpy", 1, [](Xs xs, Options o) -> Values { return {sort(xs[0], o.axis())}; }},
    MEZZO_UNARY(SparsePlus, "nn", sparse_plus),
    MEZZO_UNARY(SparseSigmoid, "nn", sparse_sigmoid),
    {"Sparsemax", "nn", 1, [](Xs xs, Options o) -> Values { return {sparsemax(xs[0], o.integer("axis", -1))}; }},
    {"Split", "numpy", 1, [](Xs xs, Options o) -> Values { return pieces(xs[0], o); }},
    MEZZO_UNARY(Square, "numpy", square),
    {"Squareplus", "nn", 1, [](Xs xs, Options o) -> Values { return {squareplus(xs[0], o.number("b", 4.0))}; }},
    {"Squeeze", "numpy", 1, [](Xs xs, Options o) -> Values { return {squeeze(xs[0], Ints(o.integers("axis")))}; }},
    {"Stack", "numpy", 1, [](Xs xs, Options o) -> Values { return {stack(xs, o.integer("axis", 0))}; }, true},
    MEZZO_REDUCTION(Std, "numpy", std),
    MEZZO_UNARY(StopGradient, "core", stop_gradient),
    {"Swapaxes", "numpy", 1,
     [](Xs xs, Options o) -> Values { return {swapaxes(xs[0], o.integer("axis1", 0), o.integer("axis2", 1))}; }},
    {"Take", "numpy", 2, [](Xs xs, Options o) -> Values { return {take(xs[0], xs[1], o.axis())}; }},
    {"TakeAlongAxis", "numpy", 2, [](Xs xs, Options o) -> Values { return {take_along_axis(xs[0], xs[1], o.axis())}; }},
    MEZZO_UNARY(TanhShrink, "nn", tanh_shrink),
    {"Tensordot", "numpy", 2, [](Xs xs, Options o) -> Values { return {dots(xs, o)}; }},
    {"Threshold", "nn", 1,
     [](Xs xs, Options o) -> Values {
       return {threshold(xs[0], o.number("threshold"), o.number("default_value", o.number("value", 0.0)))};
     }},
    {"Tile", "numpy", 1, [](Xs xs, Options o) -> Values { return {tile(xs[0], repeats_of(xs[0], o))}; }},
    {"Tril", "numpy", 1, [](Xs xs, Options o) -> Values { return {tril(matrix_of(xs[0], o), o.integer("k", 0))}; }},
    {"Triu", "numpy", 1, [](Xs xs, Options o) -> Values { return {triu(matrix_of(xs[0], o), o.integer("k", 0))}; }},
    {"Unstack", "core", 1, [](Xs xs, Options o) -> Values { return unstack(xs[0], o.integer("axis", 0)); }},
    MEZZO_REDUCTION(Var, "numpy", var),
    MEZZO_UNARY(ZerosLike, "numpy", zeros_like),
};
#undef MEZZO_UNARY
#undef MEZZO_REDUCTION

}  // namespace

const KerasOperation* find_keras_operation(const std::string& name) {
  const auto* const found = std::find_if(std::begin(operations), std::end(operations),
                                         [&](const KerasOperation& one) { return name == one.name; });
  return found == std::end(operations) ? nullptr : found;
}

}  // namespace mezzo::detail
