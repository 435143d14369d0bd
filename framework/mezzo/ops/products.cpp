#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>

// Products as compositions of einsum.
namespace mezzo {
namespace {

/// Letters for axes: "abc" from the first letter on.
std::string letters(char first, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += static_cast<char>(first + static_cast<char>(i));
  return out;
}

constexpr std::size_t most_axes = 26;

void require_few_axes(const Value& a, const Value& b, const char* name) {
  for (const auto* x : {&a, &b}) {
    if (x->shape().size() > most_axes) {
      fail<ShapeError>(detail::current_label(name), "operands must have at most {} axes; got shape {}", most_axes,
                       x->shape());
    }
  }
}

}  // namespace

Value dot(const Value& a, const Value& b) {
  if (a.shape().empty() || b.shape().empty()) return a * b;
  const auto axis = static_cast<std::int64_t>(b.shape().size() == 1 ? 0 : b.shape().size() - 2);
  return tensordot(a, b, -1, axis);
}

Value vdot(const Value& a, const Value& b) { return einsum("a,a->", {ravel(a), ravel(b)}); }

Value inner(const Value& a, const Value& b) {
  if (a.shape().empty() || b.shape().empty()) return a * b;
  return tensordot(a, b, -1, -1);
}

Value outer(const Value& a, const Value& b) { return reshape(a, {-1, 1}) * reshape(b, {1, -1}); }

Value tensordot(const Value& a, const Value& b, std::int64_t axes) {
  const auto rank = static_cast<std::int64_t>(a.shape().size());
  if (axes < 0 || axes > rank || axes > static_cast<std::int64_t>(b.shape().size())) {
    fail<ShapeError>(detail::current_label("tensordot"), "both operands must have {} axes; got shapes {} and {}", axes,
                     a.shape(), b.shape());
  }
  require_few_axes(a, b, "tensordot");
  const auto shared = static_cast<std::size_t>(axes);
  const std::string first = letters('a', a.shape().size()), last = letters('A', b.shape().size() - shared);
  const std::string rows = first.substr(0, first.size() - shared);
  return einsum(first + "," + first.substr(rows.size()) + last + "->" + rows + last, {a, b});
}

Value tensordot(const Value& a, const Value& b, const detail::Ints& axes_of_a, const detail::Ints& axes_of_b) {
  const std::string where = detail::current_label("tensordot");
  require_few_axes(a, b, "tensordot");
  const Shape &of_a = axes_of_a.numbers(), &of_b = axes_of_b.numbers();
  if (of_a.size() != of_b.size()) {
    fail<ValueError>(where, "needs as many axes of both operands; got {} and {}", detail::numbers_text(of_a),
                     detail::numbers_text(of_b));
  }
  std::string first = letters('a', a.shape().size()), second = letters('A', b.shape().size());
  std::string rows = first, columns = second;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const auto from = static_cast<std::size_t>(detail::normalize_axis(of_a[i], a.shape().size(), where));
    const auto to = static_cast<std::size_t>(detail::normalize_axis(of_b[i], b.shape().size(), where));
    rows.erase(std::remove(rows.begin(), rows.end(), first[from]), rows.end());
    columns.erase(std::remove(columns.begin(), columns.end(), second[to]), columns.end());
    second[to] = first[from];
  }
  return einsum(first + "," + second + "->" + rows + columns, {a, b});
}

Value kron(const Value& a, const Value& b) {
  const std::size_t rank = std::max(a.shape().size(), b.shape().size());
  Shape of_a = a.shape(), of_b = b.shape(), wide_a, wide_b, to;
  of_a.insert(of_a.begin(), rank - of_a.size(), 1);
  of_b.insert(of_b.begin(), rank - of_b.size(), 1);
  for (std::size_t i = 0; i < rank; ++i) {
    wide_a.insert(wide_a.end(), {of_a[i], 1});
    wide_b.insert(wide_b.end(), {1, of_b[i]});
    to.push_back(of_a[i] * of_b[i]);
  }
  return reshape(reshape(a, wide_a) * reshape(b, wide_b), to);
}

Value cross(const Value& a, const Value& b, std::int64_t axis) {
  const std::string where = detail::current_label("cross");
  const auto parts = [&](const Value& x) {
    const std::int64_t along = detail::normalize_axis(axis, x.shape().size(), where);
    const std::int64_t count = x.shape()[static_cast<std::size_t>(along)].or_unknown();
    if (count != 2 && count != 3) {
      fail<ShapeError>(where, "input axis {} must be 2 or 3; got shape {}", along, x.shape());
    }
    return unstack(x, along);
  };
  const Values x = parts(a), y = parts(b);
  const Value third = x[0] * y[1] - x[1] * y[0];
  if (x.size() == 2 && y.size() == 2) return third;
  const Value zero = zeros_like(third);
  const auto product = [&](const Values& one, std::size_t i, const Values& other, std::size_t j) {
    return i < one.size() && j < other.size() ? one[i] * other[j] : zero;
  };
  return stack({product(x, 1, y, 2) - product(x, 2, y, 1), product(x, 2, y, 0) - product(x, 0, y, 2), third}, axis);
}

}  // namespace mezzo
