#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/ops/ints.hpp>

namespace mezzo {

namespace detail {
/// Padding of images: "valid" (none), "same" (as TensorFlow: the output has size ceil(input / stride), an odd pixel
/// goes to the end), or numbers of pixels on each side of height and width, as in torch.
class MEZZO_API Padding {
 public:
  /// Throws a NameError for a name other than "valid" and "same".
  Padding(const char* name);
  Padding(const std::string& name) : Padding(name.c_str()) {}
  Padding(Ints numbers) : numbers_(std::move(numbers)) {}
  template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>>
  Padding(I both) : numbers_(both) {}
  Padding(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}

  /// True if given as numbers.
  bool numeric() const { return !numbers_.empty(); }

  /// "valid" or "same"; "" if given as numbers.
  std::string name() const { return numeric() ? "" : same_ ? "same" : "valid"; }

  /// The numbers as given; empty if given as a name.
  const Ints& numbers() const { return numbers_; }

  /// {top, bottom, left, right} in pixels. The other arguments are {height, width} pairs; `where` starts the errors.
  Shape resolve(const std::string& where, const Shape& image, const Shape& window, const Shape& strides,
                const Shape& dilation) const;

 private:
  bool same_ = false;
  Ints numbers_;
};
}  // namespace detail

}  // namespace mezzo
