#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/layers/merging/add.hpp>
#include <mezzo/layers/merging/dot.hpp>
#include <mezzo/layers/merging/merging.hpp>
#include <mezzo/layers/merging/multiply.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/masks.hpp>

namespace mezzo {
namespace {

void require_two(const std::string& where, const Values& xs) {
  if (xs.size() < 2) fail<ValueError>(where, "takes at least two inputs; got {}", xs.size());
}

/// function(function(a, b), c) and so on.
Value folded(const Values& xs, Value (*function)(const Value&, const Value&)) {
  Value merged = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) merged = function(merged, xs[i]);
  return merged;
}

/// The same where both masks are equal; else the operand whose mask is true. As in Keras, the result has one mask for
/// all inputs.
Value folded_by_masks(const Values& xs, Value (*function)(const Value&, const Value&)) {
  const auto of_rank = [](const Value& mask, const Value& x) {
    return mask.defined() ? detail::mask_of_rank(mask, x.shape().size()) : mask;
  };
  Value merged = xs[0], merged_mask = of_rank(xs[0].mask(), xs[0]);
  for (std::size_t i = 1; i < xs.size(); ++i) {
    const Value mask = of_rank(xs[i].mask(), xs[i]);
    const Value x = mask.defined() ? where(mask, xs[i], merged) : xs[i];
    if (merged_mask.defined()) merged = where(merged_mask, merged, x);
    merged_mask = mask.defined() && merged_mask.defined() ? logical_or(merged_mask, mask) : Value();
    merged = function(merged, x);
  }
  return merged;
}

/// Letters of the axes of an input of Dot: 'a' is the batch, `contracted` the axis of the product.
std::string letters_of(std::size_t rank, std::int64_t contracted, char first) {
  std::string letters(1, 'a');
  for (std::size_t i = 1; i < rank; ++i) {
    letters += static_cast<std::int64_t>(i) == contracted ? 'b' : static_cast<char>(first + static_cast<int>(i));
  }
  return letters;
}

}  // namespace

Values Add::compute_mask(const Values&, const Values& masks) const { return {detail::merged_mask(masks)}; }
Values detail::Merging::compute_mask(const Values&, const Values& masks) const { return {detail::merged_mask(masks)}; }
Values Multiply::compute_mask(const Values&, const Values& masks) const { return {detail::merged_mask(masks)}; }

Values Add::call_many(const Values& xs) {
  require_two(label(), xs);
  return {folded(xs, add)};
}

Values Multiply::call_many(const Values& xs) {
  require_two(label(), xs);
  Values masks;
  Value product;
  for (const Value& x : xs) {
    masks.push_back(x.mask());
    const bool masked = masks.back().defined();
    const Value factor = masked ? where(detail::mask_of_rank(masks.back(), x.shape().size()), x, 1.0) : x;
    product = product.defined() ? multiply(product, factor) : factor;
  }
  const Value mask = detail::merged_mask(masks);
  if (!mask.defined()) return {product};
  return {where(detail::mask_of_rank(mask, product.shape().size()), product, 0.0)};
}

Values detail::Merging::call_many(const Values& xs) {
  require_two(label(), xs);
  std::size_t rank = 0;
  for (const Value& x : xs) rank = std::max(rank, x.shape().size());
  Values of_one_rank;
  for (Value x : xs) {
    while (!x.shape().empty() && x.shape().size() < rank) x = expand_dims(x, 1);
    of_one_rank.push_back(x);
  }
  return {merge(of_one_rank)};
}

Value Average::merge(const Values& xs) const { return folded(xs, add) / static_cast<double>(xs.size()); }
Value Maximum::merge(const Values& xs) const { return folded_by_masks(xs, mezzo::maximum); }
Value Minimum::merge(const Values& xs) const { return folded_by_masks(xs, mezzo::minimum); }

Value Subtract::merge(const Values& xs) const {
  if (xs.size() != 2) fail<ValueError>(label(), "takes two inputs; got {}", xs.size());
  return xs[0] - xs[1];
}

Dot::Dot(DotOptions options) : Layer("Dot", options), options_(std::move(options)) {
  const std::size_t count = options_.axes.numbers().size();
  if (count < 1 || count > 2) fail<ValueError>(label(), "axes must be one or two numbers; got {}", count);
}

Values Dot::call_many(const Values& xs) {
  if (xs.size() != 2) fail<ValueError>(label(), "takes two inputs; got {}", xs.size());
  const Shape &axes = options_.axes.numbers(), &a = xs[0].shape(), &b = xs[1].shape();
  detail::require_rank_at_least(label(), a, 2);
  detail::require_rank_at_least(label(), b, 2);
  const std::int64_t of_a = detail::normalize_axis(axes.front(), a.size(), label());
  const std::int64_t of_b = detail::normalize_axis(axes.back(), b.size(), label());
  if (of_a == 0 || of_b == 0)
    fail<ValueError>(label(), "axes must not be 0, the batch; got ({})", fmt::join(axes, ", "));
  const auto differ = [](std::int64_t one, std::int64_t other) { return one >= 0 && other >= 0 && one != other; };
  if (differ(a[0], b[0]) || differ(a[static_cast<std::size_t>(of_a)], b[static_cast<std::size_t>(of_b)])) {
    fail<ShapeError>(label(), "inputs must have one batch size and one size along the axes {} and {}; got {} and {}",
                     of_a, of_b, a, b);
  }
  const std::string first = letters_of(a.size(), of_a, 'b'), second = letters_of(b.size(), of_b, 'B');
  std::string out = first;
  out.erase(static_cast<std::size_t>(of_a), 1);
  std::string rest = second.substr(1);
  rest.erase(static_cast<std::size_t>(of_b) - 1, 1);
  Shape shape;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (static_cast<std::int64_t>(i) != of_a) shape.push_back(a[i]);
  }
  for (std::size_t i = 1; i < b.size(); ++i) {
    if (static_cast<std::int64_t>(i) != of_b) shape.push_back(b[i]);
  }
  const bool scalars = shape.size() == 1;  // of each sample
  if (scalars) shape.push_back(1);
  const std::string equation = fmt::format("{},{}->{}{}", first, second, out, rest);
  const bool normalizes = options_.normalize;
  const auto product = [=](const Values& ys) -> Values {
    const Value y =
        einsum(equation, {normalizes ? normalize(ys[0], of_a) : ys[0], normalizes ? normalize(ys[1], of_b) : ys[1]});
    return {scalars ? expand_dims(y, 1) : y};
  };
  return detail::defer(product, xs, {{shape, dtype_policy().compute_dtype()}});
}

}  // namespace mezzo
