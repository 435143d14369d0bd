#include <mezzo/training/slow_policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include <mezzo/core/output.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo::detail {

std::string slowness(const Policy& policy, const ProductRates& float32, const ProductRates& other) {
  const double matmul = other.matmul / float32.matmul, conv2d = other.conv2d / float32.conv2d;
  constexpr double noise = 0.9;
  if (std::sqrt(matmul * conv2d) >= noise) return {};
  return fmt::format(
      "{} is slower than float32 on this CPU: matrix products run at {:.2f} of float32's speed, convolutions at {:.2f} "
      "(measured); precision \"auto\" measures your model and picks",
      policy.name(), matmul, conv2d);
}

void warn_if_slow(const Policy& policy) {
  const DType dtype = computes_in(policy);
  if (dtype != DType::bfloat16 && dtype != DType::float16) return;
  if (turned_off("MEZZO_WARN_SLOW_POLICY")) return;
  static std::once_flag measured[2];
  std::call_once(measured[dtype == DType::float16 ? 1 : 0], [&] {
    ProductRates float32, other;
    const auto keep_best = [](ProductRates& best, const ProductRates& rates) {
      best.matmul = std::max(best.matmul, rates.matmul);
      best.conv2d = std::max(best.conv2d, rates.conv2d);
    };
    constexpr int tries = 5;  // on a busy machine each may be slow by chance, all of them hardly
    const OneThread alone;    // and threads that wait for one another often are
    std::string text;
    for (int i = 0; i < tries; ++i) {
      const std::vector<ProductRates> rates = product_rates({DType::float32, dtype}, 2);
      keep_best(float32, rates[0]);
      keep_best(other, rates[1]);
      text = slowness(policy, float32, other);
      if (text.empty()) return;
    }
    warn(text);
  });
}

}  // namespace mezzo::detail
