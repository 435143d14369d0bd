#include <mezzo/report/display/text.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/report/display/chart_data.hpp>

namespace mezzo {
namespace {

constexpr std::int64_t threshold = 1000;  // as numpy's print options threshold and edgeitems
constexpr std::int64_t edge = 3;

template <class T>
std::string element_text(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::to_string(value);
  } else {
    return fmt::format("{:.6g}", convert<double>(value));
  }
}

template <class T>
class TensorText {
 public:
  explicit TensorText(const Tensor& tensor)
      : tensor_(tensor), strides_(detail::row_major_strides(tensor.shape())), data_(tensor.data<T>()) {}

  void write(std::size_t axis, std::int64_t offset) {
    const Shape& shape = tensor_.shape();
    if (axis == shape.size()) {
      text += element_text(data_[offset]);
      return;
    }
    const std::int64_t count = shape[axis];
    const bool cut = tensor_.size() > threshold && count > 2 * edge;
    const bool innermost = axis + 1 == shape.size();
    const std::string next = innermost ? ", " : ",\n" + std::string(axis + 1, ' ');
    text += "[";
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) text += next;
      if (cut && i == edge) {
        text += "..." + next;
        i = count - edge;
      }
      write(axis + 1, offset + i * strides_[axis]);
    }
    text += "]";
  }

  std::string text;

 private:
  const Tensor& tensor_;
  Shape strides_;
  const T* data_;
};

}  // namespace

std::string to_text(const Tensor& tensor) {
  return tensor.describe() + "\n" + visit_dtype(tensor.dtype(), [&](auto zero) {
           TensorText<decltype(zero)> writer(tensor);
           writer.write(0, 0);
           return std::move(writer.text);
         });
}

std::string to_text(const History& history) {
  detail::check_history(history, "[to_text]");
  std::vector<detail::TextColumn> columns{{"epoch", true}};
  for (const auto& entry : history.history) columns.push_back({entry.first, true});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < history.epoch.size(); ++i) {
    rows.push_back({fmt::to_string(history.epoch[i])});
    for (const auto& [name, numbers] : history.history) {
      const std::vector<int>& epochs = history.epochs_of(name);
      const auto at = std::find(epochs.begin(), epochs.end(), history.epoch[i]) - epochs.begin();
      rows.back().push_back(
          at < static_cast<std::ptrdiff_t>(epochs.size()) ? element_text(numbers[static_cast<std::size_t>(at)]) : "");
    }
  }
  std::string text;
  for (const std::string& line : detail::table_lines(columns, rows)) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace mezzo
