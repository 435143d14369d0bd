#include <algorithm>
#include <limits>
#include <locale>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <xtensor/xadapt.hpp>
#include <xtensor/xio.hpp>

#include <mezzo/core/tensor.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo {
namespace {

/// Elements as xtensor prints them, in braces.
template <class T>
void print_elements(std::ostream& out, const Tensor& tensor) {
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  const auto elements = xt::adapt(tensor.data<T>(), static_cast<std::size_t>(tensor.size()), xt::no_ownership(), shape);
  if constexpr (std::is_class_v<T>) {
    out << xt::make_lambda_xfunction([](T narrow) { return static_cast<float>(narrow); }, elements);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    // xtensor's own printer takes absolute values, but the least integer has no absolute value.
    out << xt::make_lambda_xfunction([](T number) { return fmt::format("{}", number); }, elements);
  } else {
    out << elements;
  }
}

/// The text of floats with a point in numbers and without separators of thousands. xtensor prints by streams of its
/// own, which have the global locale.
std::string in_classic_locale(const std::string& text) {
  const auto& punctuation = std::use_facet<std::numpunct<char>>(std::locale());
  const char point = punctuation.decimal_point(), separator = punctuation.thousands_sep();
  const bool separates = !punctuation.grouping().empty();
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(i)) {
      out += text[i++];
      continue;
    }
    for (; is_digit(i) || (separates && i < text.size() && text[i] == separator && is_digit(i + 1)); ++i) {
      if (is_digit(i)) out += text[i];
    }
    if (i < text.size() && text[i] == point) {
      out += '.';
      while (is_digit(++i)) out += text[i];
    }
    if (i < text.size() && text[i] == 'e') {
      out += text[i++];
      do out += text[i++];
      while (is_digit(i));
    }
  }
  return out;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  out << tensor.describe();
  const auto too_long = [](std::int64_t size) { return size > std::numeric_limits<int>::max(); };
  if (std::any_of(shape.begin(), shape.end(), too_long)) return out;  // xtensor prints by int indices
  std::ostringstream elements;
  elements.precision(out.precision());
  visit_stored_dtype(tensor.dtype(), [&](auto zero) { print_elements<decltype(zero)>(elements, tensor); });
  std::string text =
      is_floating(tensor.dtype()) || is_float8(tensor.dtype()) ? in_classic_locale(elements.str()) : elements.str();
  std::replace(text.begin(), text.end(), '{', '[');
  std::replace(text.begin(), text.end(), '}', ']');
  for (std::size_t at = 0; (at = text.find(" \n", at)) != std::string::npos;) text.erase(at, 1);
  return out << '\n' << text.substr(shape.empty() ? text.find_first_not_of(' ') : 0);
}

}  // namespace mezzo
