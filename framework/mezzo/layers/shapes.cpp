#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/flatten.hpp>
#include <mezzo/layers/zero_padding2d.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

Value Flatten::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 1);
  const std::int64_t elements = element_count(Shape(x.shape().begin() + 1, x.shape().end()));
  if (elements < 0) {
    fail<ShapeError>(label(), "all axes but the first must have known sizes; got shape {}", x.shape());
  }
  return reshape(x, {elements > 0 ? -1 : x.shape()[0], elements});
}

Margins::Margins(std::initializer_list<std::int64_t> both) {
  for (const std::int64_t number : both) numbers_.insert(numbers_.end(), 2, number);
}

Margins::Margins(std::initializer_list<std::initializer_list<std::int64_t>> each) {
  for (const auto& sides : each) numbers_.insert(numbers_.end(), sides.begin(), sides.end());
}

Shape Margins::resolve(const std::string& where) const {
  const bool good =
      numbers_.size() == 4 && std::all_of(numbers_.begin(), numbers_.end(), [](std::int64_t n) { return n >= 0; });
  if (!good) {
    fail<ValueError>(where, "padding must be one, two or two pairs of numbers of at least 0; got ({})",
                     fmt::join(numbers_, ", "));
  }
  return numbers_;
}

ZeroPadding2D::ZeroPadding2D(const ZeroPadding2DOptions& options)
    : Layer("ZeroPadding2D", options), padding_(options.padding.resolve(label())) {}

Value ZeroPadding2D::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 4, "(batch, height, width, channels)");
  return pad(x, {.before = {0, padding_[0], padding_[2], 0}, .after = {0, padding_[1], padding_[3], 0}});
}

}  // namespace mezzo
