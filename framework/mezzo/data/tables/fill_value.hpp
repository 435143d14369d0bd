#pragma once
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace mezzo::detail {

/// Value in place of missing ones: a number or a text.
class FillValue : public std::variant<double, std::string> {
 public:
  FillValue() = default;
  template <class N, std::enable_if_t<std::is_arithmetic_v<N>, int> = 0>
  FillValue(N number) : std::variant<double, std::string>(static_cast<double>(number)) {}
  FillValue(const char* text) : std::variant<double, std::string>(std::string(text)) {}
  FillValue(std::string text) : std::variant<double, std::string>(std::move(text)) {}
};

}  // namespace mezzo::detail
