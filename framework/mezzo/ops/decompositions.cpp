#include <algorithm>
#include <limits>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/finfo.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/shape.hpp>

// QR, eigenvalues, singular values, and functions computed from them.
namespace mezzo {
namespace {

struct Sizes {
  std::int64_t rows, columns, least;
  explicit Sizes(const Shape& shape)
      : rows(shape[shape.size() - 2]), columns(shape.back()), least(std::min(rows, columns)) {}
};

/// (..., rows, columns) with the leading axes of x; without `rows` a vector.
Spec like(const Spec& x, std::int64_t rows, std::int64_t columns) {
  Shape shape(x.shape.begin(), x.shape.end() - 2);
  if (rows >= 0) shape.push_back(rows);
  shape.push_back(columns);
  return {shape, x.dtype};
}

std::vector<Spec> infer_qr(const OpCall& call) {
  detail::require_matrix(call, 0);
  const Spec& x = call.inputs[0];
  const Sizes n(x.shape);
  const std::int64_t inner = call.attributes.get<bool>("complete") ? n.rows : n.least;
  return {like(x, n.rows, inner), like(x, inner, n.columns)};
}

std::vector<Spec> infer_eigh(const OpCall& call) {
  detail::require_square(call, 0);
  return {like(call.inputs[0], -1, call.inputs[0].shape.back()), call.inputs[0]};
}

std::vector<Spec> infer_svd(const OpCall& call) {
  detail::require_matrix(call, 0);
  const Spec& x = call.inputs[0];
  const Sizes n(x.shape);
  const bool full = call.attributes.get<bool>("full");
  return {like(x, -1, n.least), like(x, n.rows, full ? n.rows : n.least),
          like(x, full ? n.columns : n.least, n.columns)};
}

Value turned(const Value& x) { return swapaxes(x, -2, -1); }

/// The first columns of matrices.
Value slice_columns(const Value& x, std::int64_t count) {
  if (x.shape().back() == count) return x;
  Shape sizes(x.shape().size(), -1);
  sizes.back() = count;
  return slice(x, {Shape(x.shape().size(), 0), sizes});
}

/// The cotangent of an output; zeros if the loss doesn't depend on it.
Value cotangent(const GradientContext& context, std::size_t i) {
  const Spec& spec = context.output_spec(i);
  return context.cotangent(i).defined() ? context.cotangent(i) : Value(Tensor(spec.shape, spec.dtype));
}

/// 1 / (x_j - x_i) at row i, column j; 0 on the diagonal.
Value inverse_differences(const Value& x) {
  const Value differences = expand_dims(x, -2) - expand_dims(x, -1);
  const Value diagonal = eye(x.shape().back(), std::nullopt, 0, DType::boolean);
  return where(diagonal, 0.0, 1.0 / where(diagonal, 1.0, differences));
}

// With m = r dr^T - dq^T q, dx = (dq + q copyltu(m)) r^-T, where copyltu mirrors the lower triangle (Walter, 2012).
Values qr_gradient(const GradientContext& context) {
  const Sizes n(context.input(0).shape());
  if (n.rows < n.columns || (context.attributes().get<bool>("complete") && n.rows != n.columns)) {
    fail<ShapeError>(context.where(), "the gradient needs M >= N and mode \"reduced\"; got shape {}",
                     context.input(0).shape());
  }
  const Value q = context.output(0), r = context.output(1);
  const Value dq = cotangent(context, 0), dr = cotangent(context, 1);
  const Value m = matmul(r, turned(dr)) - matmul(turned(dq), q);
  const Value mirrored = tril(m) + turned(tril(m, -1));
  return {turned(solve_triangular(r, turned(dq + matmul(q, mirrored))))};
}

Values eigh_gradient(const GradientContext& context) {
  const Value v = context.output(1);
  Value inner = expand_dims(cotangent(context, 0), -1) * Value(eye(v.shape().back(), std::nullopt, 0, v.dtype()));
  if (context.cotangent(1).defined()) {
    inner = inner + inverse_differences(context.output(0)) * matmul(turned(v), context.cotangent(1));
  }
  const Value dx = matmul(matmul(v, inner), turned(v));
  return {(dx + turned(dx)) * 0.5};
}

// Townsend (2016), "Differentiating the singular value decomposition".
Values svd_gradient(const GradientContext& context) {
  const Value s = context.output(0), u = context.output(1), v = turned(context.output(2));
  const bool vectors = context.cotangent(1).defined() || context.cotangent(2).defined();
  const Sizes n(context.input(0).shape());
  if (context.attributes().get<bool>("full")) {
    if (vectors && n.rows != n.columns) {
      fail<ShapeError>(context.where(), "the gradient of the vectors needs full_matrices = false; got shape {}",
                       context.input(0).shape());
    }
  }
  const Value thin_u = slice_columns(u, n.least), thin_v = slice_columns(v, n.least);
  const Value square = eye(n.least, std::nullopt, 0, s.dtype());
  Value inner = expand_dims(cotangent(context, 0), -1) * square;
  if (!vectors) return {matmul(matmul(thin_u, inner), turned(thin_v))};
  const Value du = cotangent(context, 1), dv = turned(cotangent(context, 2));
  const Value f = inverse_differences(s * s), row = expand_dims(s, -2), column = expand_dims(s, -1);
  const Value of_u = matmul(turned(u), du), of_v = matmul(turned(v), dv);
  inner = inner + f * (of_u - turned(of_u)) * row + column * (f * (of_v - turned(of_v)));
  Value dx = matmul(matmul(u, inner), turned(v));
  if (n.rows > n.least) dx = dx + matmul((du - matmul(u, of_u)) / row, turned(v));
  if (n.columns > n.least) dx = dx + matmul(u / row, turned(dv - matmul(v, of_v)));
  return {dx};
}

/// Singular values up to the tolerance as 0, the others inverted.
Value pseudoinverse(const Value& x, std::optional<double> rcond, const char* name) {
  if (x.shape().size() < 2) {
    fail<ShapeError>(detail::current_label(name), "input 0 must have at least 2 axes; got shape {}", x.shape());
  }
  const SVD parts = svd(x, false);
  const Sizes n(x.shape());
  const double epsilon = finfo(parts.s.dtype()).eps * static_cast<double>(std::max(n.rows, n.columns));
  if (n.least == 0) return turned(zeros_like(x, parts.s.dtype()));
  const Value least = max(parts.s, {{-1}, true}) * rcond.value_or(epsilon);
  const Value used = equal(sign(parts.s - least), 1.0);
  const Value inverse = where(used, 1.0 / where(used, parts.s, 1.0), 0.0);
  return matmul(turned(parts.v) * expand_dims(inverse, -2), turned(parts.u));
}

}  // namespace

Op detail::define_qr() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_qr;
  op.gradient = qr_gradient;
  return op;
}

Op detail::define_eigh() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_eigh;
  op.gradient = eigh_gradient;
  return op;
}

Op detail::define_svd() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_svd;
  op.gradient = svd_gradient;
  return op;
}

QR qr(const Value& x, const char* mode) {
  const std::string name = mode;
  if (name != "reduced" && name != "complete") {
    fail_unknown(detail::current_label("qr"), "mode", name, {"reduced", "complete"});
  }
  const Values both = insert(ops::qr, {x}, {{"complete", name == "complete"}});
  return {both[0], both[1]};
}

Eigh eigh(const Value& x) {
  const Values both = insert(ops::eigh, {x});
  return {both[0], both[1]};
}

SVD svd(const Value& x, bool full_matrices) {
  const Values parts = insert(ops::svd, {x}, {{"full", full_matrices}});
  return {parts[1], parts[0], parts[2]};
}

Value pinv(const Value& x, std::optional<double> rcond) { return pseudoinverse(x, rcond, "pinv"); }

Value lstsq(const Value& a, const Value& b, std::optional<double> rcond) {
  return matmul(pseudoinverse(a, rcond, "lstsq"), b);
}

Value matrix_rank(const Value& x, std::optional<double> tol) {
  if (x.shape().size() < 2) {
    fail<ShapeError>(detail::current_label("matrix_rank"), "input 0 must have at least 2 axes; got shape {}",
                     x.shape());
  }
  const Value s = svd(x, false).s;
  const Sizes n(x.shape());
  if (n.least == 0) return sum(zeros_like(s, DType::int64), {{-1}});
  const double epsilon = finfo(s.dtype()).eps * static_cast<double>(std::max(n.rows, n.columns));
  const Value least = tol ? Value(Tensor::scalar(*tol, s.dtype())) : max(s, {{-1}, true}) * epsilon;
  return sum(equal(sign(s - least), 1.0), {{-1}});
}

}  // namespace mezzo
