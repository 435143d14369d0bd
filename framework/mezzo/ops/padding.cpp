#include <mezzo/ops/padding.hpp>

#include <algorithm>
#include <tuple>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/spatial_axes.hpp>

namespace mezzo {

Shape detail::Ints::pair(const std::string& where, const std::string& name, std::int64_t least) const {
  const bool good = (numbers_.size() == 1 || numbers_.size() == 2) &&
                    std::all_of(numbers_.begin(), numbers_.end(), [&](std::int64_t n) { return n >= least; });
  if (!good) {
    fail<ValueError>(where, "{} must be one or two numbers of at least {}; got {}", name, least,
                     detail::numbers_text(numbers_));
  }
  return {numbers_.front(), numbers_.back()};
}

detail::Padding::Padding(const char* name) : same_(std::string(name) == "same") {
  if (!same_ && std::string(name) != "valid") {
    fail<NameError>("", "unknown padding \"{}\"; valid names: same, valid (or numbers of pixels)", name);
  }
}

Shape detail::Padding::resolve(const std::string& where, const Shape& image, const Shape& window, const Shape& strides,
                               const Shape& dilation) const {
  if (!numbers_.empty()) {
    const Shape both = numbers_.pair(where, "padding", 0);
    return {both[0], both[0], both[1], both[1]};
  }
  Shape out(4, 0);
  for (std::size_t i = 0; same_ && i < 2; ++i) {
    const std::int64_t reach = dilation[i] * (window[i] - 1) + 1;
    std::tie(out[2 * i], out[2 * i + 1]) = detail::same_padding(image[i], reach, strides[i]);
  }
  return out;
}

}  // namespace mezzo
