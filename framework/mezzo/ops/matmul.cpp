#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/int8_scale.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/listed.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/run_sizes.hpp>
#include <mezzo/ops/table_product.hpp>
#include <mezzo/ops/tile_matmul.hpp>

namespace mezzo {
namespace {

/// Sizes of the last two axes of an operand, after its transposition.
struct Matrix {
  std::int64_t rows, columns;
};

Matrix matrix_of(const OpCall& call, std::size_t i, bool transposed) {
  const Shape& shape = call.inputs[i].shape;
  if (shape.size() < 2) {
    fail<ShapeError>(call.where, "input {} must have at least 2 axes; got shape {}", i, shape);
  }
  const Matrix m{shape[shape.size() - 2], shape.back()};
  return transposed ? Matrix{m.columns, m.rows} : m;
}

/// Formats of the operands, values of the attribute "products": "int8"; "int8_tiles", also in the gradient of the right
/// operand; and in functional graphs the one that the policy of the model's call sets.
constexpr const char *in_int8 = "int8", *in_tiles = "int8_tiles", *by_policy = "policy";

std::vector<Spec> infer_matmul(const OpCall& call) {
  detail::require_float(call, 0);
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  const bool transpose_a = call.attributes.get<bool>("transpose_a");
  const Matrix left = matrix_of(call, 0, transpose_a);
  const Matrix right = matrix_of(call, 1, call.attributes.get<bool>("transpose_b"));
  if (left.columns != right.rows && left.columns >= 0 && right.rows >= 0) {
    fail<ShapeError>(call.where, "input axis -{} must be {} (rows of the second operand); got shape {}",
                     transpose_a ? 2 : 1, right.rows, a);
  }
  const std::string products = call.attributes.get_or<std::string>("products", in_int8);
  if (products != in_int8 && products != in_tiles && products != by_policy) {
    fail_unknown(call.where, "products", products, std::array{in_int8, in_tiles});
  }
  const bool batched = b.size() > 2;
  if (batched && Shape(a.begin(), a.end() - 2) != Shape(b.begin(), b.end() - 2)) {
    fail<ShapeError>(call.where, "leading axes must be equal; got {} and {}", a, b);
  }
  if (!batched && transpose_a && a.size() > 2) {
    fail<ShapeError>(call.where, "transpose_a of rank {} needs a second operand of that rank; got shape {}", a.size(),
                     b);
  }
  Shape out(a.begin(), a.end() - 2);
  out.push_back(left.rows);
  out.push_back(right.columns);
  return {{out, call.attributes.get_or<DType>("dtype", call.inputs[0].dtype)}};
}

Value rows(const Value& x) { return reshape(x, {-1, x.shape().back()}); }

// A float32 sum of ones stops growing at 2^24. Sums of more terms than long_depth are therefore sums of the sums of
// pieces.
constexpr std::int64_t long_depth = 1 << 20, piece = 1 << 14;

/// Pieces of the matrices along the axis of the sum, the last one or the one before: (..., pieces, matrix of a piece).
/// Zeros fill the last piece.
Value pieces_of(const Value& x, bool last) {
  const std::size_t rank = x.shape().size(), axis = last ? rank - 1 : rank - 2;
  const std::int64_t rest = x.shape()[axis] % piece;
  Shape none(rank, 0), after(rank, 0);
  after[axis] = rest == 0 ? 0 : piece - rest;
  const Value whole = rest == 0 ? x : insert_one(ops::pad, {x}, {{"before", none}, {"after", after}});
  Shape cut = whole.shape();
  cut[axis] = piece;
  cut.insert(cut.begin() + static_cast<std::ptrdiff_t>(axis), whole.shape()[axis] / piece);
  const Value pieces = reshape(whole, cut);
  return last ? moveaxis(pieces, -2, -3) : pieces;
}

/// A product with many terms in each sum: the sum of the products of pieces.
Value long_product(const Value& a, const Value& b, bool transpose_a, bool transpose_b, DType dtype) {
  const bool flatten = a.shape().size() > b.shape().size();
  const Value left = flatten ? rows(a) : a;
  const DType wide = accumulation_dtype(a.dtype());
  const Value products = insert_one(ops::matmul, {pieces_of(left, !transpose_a), pieces_of(b, transpose_b)},
                                    {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"dtype", wide}});
  const Value sums = detail::sum_as(products, {static_cast<std::int64_t>(left.shape().size()) - 2}, false, dtype);
  if (!flatten) return sums;
  Shape shape = a.shape();
  shape.back() = sums.shape().back().or_unknown();
  return reshape(sums, shape);
}

/// The product in that dtype; by default in the operands'. `products`: format of the operands, unless sums have more
/// terms than int32 holds; null: as they are.
Value matmul_as(const Value& a, const Value& b, bool transpose_a, bool transpose_b,
                std::optional<DType> dtype = std::nullopt, const char* products = nullptr) {
  const Shape& shape = a.shape();
  const bool matrices = shape.size() >= 2 && b.shape().size() >= 2;
  const std::int64_t depth = matrices ? shape[shape.size() - (transpose_a ? 2 : 1)] : 0;
  if (depth > long_depth) {
    const std::vector<DType> dtypes = detail::operand_dtypes(ops::matmul, ops::matmul.cast, {a, b});
    return long_product(detail::as(a, dtypes[0]), detail::as(b, dtypes[1]), transpose_a, transpose_b,
                        dtype.value_or(dtypes[0]));
  }
  Attributes attributes{{"transpose_a", transpose_a}, {"transpose_b", transpose_b}};
  if (dtype) attributes.set("dtype", *dtype);
  if (products != nullptr && depth <= detail::most_int8_terms) attributes.set("products", std::string(products));
  return insert_one(ops::matmul, {a, b}, std::move(attributes));
}

Values matmul_gradient(const GradientContext& context) {
  const bool ta = context.attributes().get<bool>("transpose_a");
  const bool tb = context.attributes().get<bool>("transpose_b");
  const Value& a = context.input(0);
  const Value& b = context.input(1);
  const Value g = detail::as(context.cotangent(), a.dtype());
  Values out(context.input_count());
  if (context.needs(0)) {
    const char* const products = context.attributes().has("products") ? in_int8 : nullptr;
    out[0] = ta ? matmul_as(b, g, tb, true, context.dtype(0), products)
                : matmul_as(g, b, false, !tb, context.dtype(0), products);
  }
  // The gradient of the right operand, the kernel, sums over samples, so scales of rows don't apply: it has 16 bits, or
  // scales of tiles.
  if (context.needs(1) && !ta && !tb && context.attributes().get_or<std::string>("products", "") == in_tiles) {
    out[1] = detail::tile_matmul(a, g, context.dtype(1));
  } else if (context.needs(1)) {
    const bool flatten = a.shape().size() > b.shape().size();
    const Value x = flatten ? rows(a) : a;
    const Value dy = flatten ? rows(g) : g;
    out[1] = tb ? matmul_as(dy, x, true, ta, context.dtype(1)) : matmul_as(x, dy, !ta, false, context.dtype(1));
  }
  return out;
}

ProductFormat format_in_force() {
  return detail::casts_disabled() ? ProductFormat::same : detail::current_policy().products();
}

/// The product with a kernel, in the format of the policy in force.
Value product_by_policy(const Value& x, const Value& kernel) {
  const ProductFormat format = format_in_force();
  const char* const products = format == ProductFormat::same   ? nullptr
                               : format == ProductFormat::int8 ? in_int8
                                                               : in_tiles;
  return matmul_as(x, kernel, false, false, std::nullopt, products);
}

Values insert_again(const Values& inputs, const Attributes& attributes) {
  if (attributes.get_or<std::string>("products", in_int8) == by_policy) {
    return {detail::matmul_of_kernel(inputs[0], inputs[1])};
  }
  return insert(ops::matmul, inputs, attributes);
}

}  // namespace

Value detail::matmul_of_kernel(const Value& x, const Value& kernel) {
  if (!detail::in_functional_graph()) return product_by_policy(x, kernel);
  return insert_one(ops::matmul, {x, kernel},
                    {{"transpose_a", false}, {"transpose_b", false}, {"products", std::string(by_policy)}});
}

Value detail::matmul_of_table(const Value& x, const Value& table) {
  const bool int8 = !detail::in_functional_graph() && format_in_force() != ProductFormat::same;
  return matmul_as(x, table, false, true, std::nullopt, int8 ? in_int8 : nullptr);
}

Op detail::define_matmul() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::promote, Cast::keep};
  op.cast.floats_only = true;
  op.cast.by_first = true;
  op.infer = infer_matmul;
  op.gradient = matmul_gradient;
  op.reinsert = insert_again;
  return op;
}

Value matmul(const Value& a, const Value& b, const MatmulOptions& options) {
  const std::string where = detail::current_label("matmul");
  const auto insert_product = [&](const Value& one, const Value& other) {
    return matmul_as(one, other, options.transpose_a, options.transpose_b);
  };
  if (!a.defined() || !b.defined()) return insert_one(ops::matmul, {a, b});  // an error
  const Shape& of_a = a.shape();
  const Shape& of_b = b.shape();
  if (of_a.empty() || of_b.empty()) {
    fail<ShapeError>(where, "operands must have at least 1 axis; got shapes {} and {}", of_a, of_b);
  }
  if (of_a.size() == 1 || of_b.size() == 1) {
    if ((of_a.size() == 1 && options.transpose_a) || (of_b.size() == 1 && options.transpose_b)) {
      fail<ShapeError>(where, "a vector can't be transposed; got shapes {} and {}", of_a, of_b);
    }
    const Value wide =
        matmul(of_a.size() == 1 ? expand_dims(a, 0) : a, of_b.size() == 1 ? expand_dims(b, 1) : b, options);
    Shape shape = wide.shape();
    if (of_b.size() == 1) shape.pop_back();
    if (of_a.size() == 1) shape.erase(shape.end() - (of_b.size() == 1 ? 1 : 2));
    return detail::reshape_result(wide, shape);
  }
  // Leading axes that broadcast. The op itself supports equal leading axes, or a b without any.
  const Shape left(of_a.begin(), of_a.end() - 2), right(of_b.begin(), of_b.end() - 2);
  const bool direct = left == right || (right.empty() && !(options.transpose_a && of_a.size() > 2));
  const auto stretched = [&](const Value& x, Shape leading, const Value& other) {
    leading.insert(leading.end(), x.shape().end() - 2, x.shape().end());
    return detail::broadcast_beside(x, leading, other);
  };
  if (direct) return insert_product(a, b);
  const Shape leading = broadcast(left, right, where);
  return insert_product(stretched(a, leading, b), stretched(b, leading, a));
}

}  // namespace mezzo
