#include <mezzo/precision/float32_matmul.hpp>

#include <array>
#include <atomic>
#include <cstddef>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

constexpr std::array precision_names{"highest", "high", "medium"};

std::atomic<detail::Float32Matmul>& of_process() {
  static std::atomic<detail::Float32Matmul> one{detail::Float32Matmul::highest};
  return one;
}

}  // namespace

detail::Float32Matmul detail::float32_matmul_of(const std::string& name) {
  for (std::size_t i = 0; i < precision_names.size(); ++i) {
    if (name == precision_names[i]) return static_cast<Float32Matmul>(i);
  }
  fail_unknown("", "float32_matmul_precision", name, precision_names);
}

void set_float32_matmul_precision(const std::string& precision) { of_process() = detail::float32_matmul_of(precision); }

std::string float32_matmul_precision() { return precision_names.at(static_cast<std::size_t>(of_process().load())); }

detail::Float32Matmul detail::process_float32_matmul() { return of_process(); }

}  // namespace mezzo
