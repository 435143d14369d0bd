#include <mezzo/layers/reshaping/margins.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/axes.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/open_sizes.hpp>

namespace mezzo {

detail::Margins::Margins(std::initializer_list<std::initializer_list<std::int64_t>> pairs) : form_(Form::pairs) {
  for (const auto& pair : pairs) numbers_.insert(numbers_.end(), pair.begin(), pair.end());
}

detail::Margins detail::Margins::of(const Shape& numbers) {
  detail::Margins out = 0;
  out.numbers_ = numbers;
  out.form_ = Form::any;
  return out;
}

Shape detail::Margins::resolve(const std::string& where, const std::string& name, std::size_t axes) const {
  const std::size_t count = numbers_.size();
  const bool pairs = form_ != Form::flat || axes == 1, flat = form_ != Form::pairs;
  const bool good = ((flat && (count == 1 || count == axes)) || (pairs && count == 2 * axes)) &&
                    std::all_of(numbers_.begin(), numbers_.end(), [](std::int64_t n) { return n >= 0; });
  if (!good) {
    const char* const counts[] = {"one number or a pair", "one, two or two pairs", "one, three or three pairs"};
    fail<ValueError>(where, "{} must be {} of numbers of at least 0; got {}", name, counts[axes - 1],
                     detail::numbers_text(numbers_));
  }
  if (count == 2 * axes) return numbers_;
  Shape out;
  for (std::size_t i = 0; i < axes; ++i) out.insert(out.end(), 2, numbers_[count == 1 ? 0 : i]);
  return out;
}

namespace detail {

template <std::size_t Axes>
ZeroPaddingLayer<Axes>::ZeroPaddingLayer(const Options& options)
    : Layer(kind, options), padding_(options.padding.resolve(label(), "padding", Axes)) {}

template <std::size_t Axes>
Value ZeroPaddingLayer<Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  PadOptions sides{.before = Shape(Axes + 2), .after = Shape(Axes + 2)};
  for (std::size_t i = 0; i < Axes; ++i) {
    sides.before[i + 1] = padding_[2 * i];
    sides.after[i + 1] = padding_[2 * i + 1];
  }
  return pad(x, sides);
}

template <std::size_t Axes>
CroppingLayer<Axes>::CroppingLayer(const Options& options)
    : Layer(kind, options), cropping_(options.cropping.resolve(label(), "cropping", Axes)) {}

template <std::size_t Axes>
Value CroppingLayer<Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  const auto run = [where = label(), cropping = cropping_](const Value& y) {
    SliceOptions part{.starts = Shape(Axes + 2), .sizes = Shape(Axes + 2, -1)};
    for (std::size_t i = 0; i < Axes; ++i) {
      const std::int64_t size = y.shape()[i + 1].or_unknown(), before = cropping[2 * i], after = cropping[2 * i + 1];
      part.starts[i + 1] = before;
      if (size <= before + after) {
        fail<ShapeError>(where, "input axis {} must be larger than cropping, {} + {}; got shape {}", i + 1, before,
                         after, y.shape());
      }
      part.sizes[i + 1] = size - before - after;
    }
    return slice(y, part);
  };
  return with_sizes(run, x, 2 * reach_of(cropping_) + 1);
}

template class ZeroPaddingLayer<1>;
template class ZeroPaddingLayer<2>;
template class ZeroPaddingLayer<3>;
template class CroppingLayer<1>;
template class CroppingLayer<2>;
template class CroppingLayer<3>;

}  // namespace detail
}  // namespace mezzo
