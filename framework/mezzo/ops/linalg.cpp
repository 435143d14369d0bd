#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/run_sizes.hpp>

// Equations and determinants.
namespace mezzo {
namespace {

std::vector<Spec> infer_square(const OpCall& call) {
  detail::require_square(call, 0);
  return {call.inputs[0]};
}

Spec without_matrix(const Spec& x) { return {Shape(x.shape.begin(), x.shape.end() - 2), x.dtype}; }

std::vector<Spec> infer_det(const OpCall& call) {
  detail::require_square(call, 0);
  return {without_matrix(call.inputs[0])};
}

std::vector<Spec> infer_slogdet(const OpCall& call) {
  detail::require_square(call, 0);
  return {without_matrix(call.inputs[0]), without_matrix(call.inputs[0])};
}

std::vector<Spec> infer_solve(const OpCall& call) {
  detail::require_square(call, 0);
  const Shape &a = call.inputs[0].shape, &b = call.inputs[1].shape;
  if (b.size() != a.size() || Shape(a.begin(), a.end() - 1) != Shape(b.begin(), b.end() - 1)) {
    fail<ShapeError>(call.where, "b must have the shape of a, {}, on all axes except the last; got {}", a, b);
  }
  return {call.inputs[1]};
}

Value transposed(const Value& x) { return swapaxes(x, -2, -1); }

/// g (...) as (..., 1, 1)
Value as_matrices(const Value& g) { return expand_dims(g, {-2, -1}); }

// The factor L of x has dx = S + S^T with S = L^-T phi(L^T dL) L^-1 / 2, where phi takes the lower triangle and half of
// the diagonal (Murray, 2016).
Values cholesky_gradient(const GradientContext& context) {
  const Value l = context.output();
  const Value product = matmul(transposed(l), context.cotangent());
  const Value phi = (tril(product) + tril(product, -1)) * 0.5;
  const Value left = solve_triangular(transposed(l), phi);
  const Value s = transposed(solve_triangular(transposed(l), transposed(left)));
  return {(s + transposed(s)) * 0.5};
}

Values inv_gradient(const GradientContext& context) {
  const Value y = transposed(context.output());
  return {negative(matmul(matmul(y, context.cotangent()), y))};
}

Values det_gradient(const GradientContext& context) {
  return {as_matrices(context.cotangent() * context.output()) * transposed(inv(context.input(0)))};
}

Values slogdet_gradient(const GradientContext& context) {
  if (!context.cotangent(1).defined()) return Values(1);
  return {as_matrices(context.cotangent(1)) * transposed(inv(context.input(0)))};
}

Values solve_gradient(const GradientContext& context) {
  const Value db = solve(transposed(context.input(0)), context.cotangent());
  return {negative(matmul(db, transposed(context.output()))), db};
}

Values solve_triangular_gradient(const GradientContext& context) {
  const bool lower = context.attributes().get<bool>("lower");
  const Value db = solve_triangular(transposed(context.input(0)), context.cotangent(), !lower);
  const Value da = negative(matmul(db, transposed(context.output())));
  return {lower ? tril(da) : triu(da), db};
}

Op of_matrices(std::vector<Spec> (*infer)(const OpCall&), Values (*gradient)(const GradientContext&)) {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer;
  op.gradient = gradient;
  return op;
}

/// Inserts `solve` or `solve_triangular` for a b that may be a vector; leading axes broadcast.
Value solution(const Op& op, const Value& a, const Value& b, const Attributes& attributes) {
  const std::string where = detail::current_label(op.name);
  const Shape &of_a = a.shape(), &of_b = b.shape();
  if (of_a.size() < 2 || of_b.empty()) {
    fail<ShapeError>(where, "a must have at least 2 axes and b at least 1; got shapes {} and {}", of_a, of_b);
  }
  const bool vector = of_b.size() + 1 == of_a.size();
  const Value columns = vector ? expand_dims(b, -1) : b;
  if (columns.shape().size() < 2) {
    fail<ShapeError>(where, "b must have the rank of a, or one axis less; got shapes {} and {}", of_a, of_b);
  }
  const auto leading = [](const Value& x) { return Shape(x.shape().begin(), x.shape().end() - 2); };
  const Shape batch = leading(a) == leading(columns) ? leading(a) : broadcast(leading(a), leading(columns), where);
  const auto stretched = [&](const Value& x, const Value& other) {
    Shape shape = batch;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return detail::broadcast_beside(x, shape, other);
  };
  const Value out = insert_one(op, {stretched(a, columns), stretched(columns, a)}, attributes);
  return vector ? squeeze(out, -1) : out;
}

}  // namespace

void detail::require_matrix(const OpCall& call, std::size_t i) {
  require_float(call, i);
  const Shape& shape = call.inputs[i].shape;
  if (shape.size() < 2) {
    fail<ShapeError>(call.where, "input {} must have at least 2 axes; got shape {}", i, shape);
  }
}

void detail::require_square(const OpCall& call, std::size_t i) {
  require_matrix(call, i);
  const Shape& shape = call.inputs[i].shape;
  if (shape.back() != shape[shape.size() - 2]) {
    fail<ShapeError>(call.where, "input {} must hold square matrices; got shape {}", i, shape);
  }
}

Op detail::define_cholesky() { return of_matrices(infer_square, cholesky_gradient); }

Op detail::define_inv() { return of_matrices(infer_square, inv_gradient); }

Op detail::define_det() { return of_matrices(infer_det, det_gradient); }

Op detail::define_slogdet() { return of_matrices(infer_slogdet, slogdet_gradient); }

Op detail::define_solve() { return of_matrices(infer_solve, solve_gradient); }

Op detail::define_solve_triangular() { return of_matrices(infer_solve, solve_triangular_gradient); }

Value cholesky(const Value& x, bool upper) {
  const Value lower = insert_one(ops::cholesky, {x});
  return upper ? transposed(lower) : lower;
}

Value cholesky_inverse(const Value& x, bool upper) {
  const Value lower = upper ? transposed(x) : x;
  const Shape& shape = x.shape();
  if (shape.size() < 2) {
    fail<ShapeError>(detail::current_label("cholesky_inverse"), "x must have at least 2 axes; got shape {}", shape);
  }
  const Value root = solve_triangular(lower, Value(eye(shape.back(), std::nullopt, 0, x.dtype())), true);
  return matmul(transposed(root), root);
}

Value det(const Value& x) { return insert_one(ops::det, {x}); }

SignAndLogDet slogdet(const Value& x) {
  const Values both = insert(ops::slogdet, {x});
  return {both[0], both[1]};
}

Value logdet(const Value& x) { return slogdet(x).logdet; }

Value inv(const Value& x) { return insert_one(ops::inv, {x}); }

Value solve(const Value& a, const Value& b) { return solution(ops::solve, a, b, {}); }

Value solve_triangular(const Value& a, const Value& b, bool lower) {
  return solution(ops::solve_triangular, a, b, {{"lower", lower}});
}

Value matrix_power(const Value& x, std::int64_t n) {
  if (n == 0) {
    const Shape& shape = x.shape();
    return zeros_like(x) + Value(eye(shape.empty() ? 0 : shape.back(), std::nullopt, 0, x.dtype()));
  }
  Value base = n < 0 ? inv(x) : x, out;
  for (std::int64_t rest = n < 0 ? -n : n; rest > 0; rest /= 2) {
    if (rest % 2 == 1) out = out.defined() ? matmul(out, base) : base;
    if (rest > 1) base = matmul(base, base);
  }
  return out;
}

}  // namespace mezzo
