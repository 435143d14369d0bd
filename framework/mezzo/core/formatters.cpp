#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/shape_view.hpp>
#include <mezzo/core/size.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {
namespace {

std::string text_of(const Shape& shape) { return to_string(shape); }
std::string text_of(const std::vector<std::int64_t>& numbers) { return to_string(Shape(numbers)); }
std::string text_of(const ShapeView& shape) { return to_string(shape); }
std::string text_of(const Size& size) { return size.known() ? fmt::to_string(size.or_unknown()) : "?"; }
std::string_view text_of(DType dtype) { return dtype_name(dtype); }
std::string text_of(const Tensor& tensor) { return tensor.describe(); }

}  // namespace

// Exported for the parts that are libraries of their own, such as mezzo::onnx.
template <class T>
MEZZO_API fmt::format_context::iterator TextFormatter<T>::format(const T& value, fmt::format_context& context) const {
  const auto& text = text_of(value);
  return std::copy(text.begin(), text.end(), context.out());
}

template struct TextFormatter<Shape>;
template struct TextFormatter<std::vector<std::int64_t>>;
template struct TextFormatter<ShapeView>;
template struct TextFormatter<Size>;
template struct TextFormatter<DType>;
template struct TextFormatter<Tensor>;

}  // namespace mezzo::detail
