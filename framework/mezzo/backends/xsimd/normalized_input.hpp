#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/batch_norm.hpp>
#include <mezzo/backends/xsimd/isa_kernels.hpp>

namespace mezzo::xsimd_kernels {

/// Limits of a norm's output by its epilogue; NaN: none.
struct NormLimits {
  float least = std::numeric_limits<float>::quiet_NaN(), most = least;

  NormLimits(const KernelRequest& request, bool relu) {
    if (!relu) return;
    least = 0;
    most = static_cast<float>(request.attributes.get_or("max_value", static_cast<double>(most)));
  }
};

/// Factor of x - mean in a norm.
inline double norm_slope(float gamma, float inverse) {
  return static_cast<double>(gamma) * static_cast<double>(inverse);
}

/// Input 0 of a kernel: x, or relu(norm(x)) in float32. A thread computes some rows of the latter at a time.
class NormalizedInput {
 public:
  /// If it `normalizes`, inputs 2 to 5 of the request are gamma, mean, inverse deviation and shift.
  NormalizedInput(const KernelRequest& request, bool normalizes, Isa isa, ScratchLayout& layout)
      : normalize_(normalizes ? kernels(isa).batch_norm.normalize.float32 : nullptr),
        limits_(request, true),
        channels_(request.inputs[0].shape.back()) {
    if (normalizes) scale_ = layout.take(static_cast<std::size_t>(channels_) * sizeof(float));
  }

  /// False if x is read as it is.
  explicit operator bool() const { return normalize_ != nullptr; }

  /// Computes the values that all rows share. Called once per run, before compute().
  void prepare(const KernelArguments& arguments) const {
    if (!*this) return;
    for (std::int64_t c = 0; c < channels_; ++c) {
      scale(arguments)[c] = static_cast<float>(norm_slope(arguments.in<float>(2)[c], arguments.in<float>(4)[c]));
    }
  }

  /// Writes `rows` rows of `count` channels, from `first` on, one after the other to `to`. `x` is the first number of
  /// the first row; several rows have all channels.
  void compute(const KernelArguments& arguments, const float* x, std::int64_t first, std::int64_t count,
               std::int64_t rows, float* to) const {
    normalize_(x, nullptr, to, arguments.in<float>(3) + first, scale(arguments) + first, arguments.in<float>(5) + first,
               limits_.least, limits_.most, rows, count, false);
  }

 private:
  float* scale(const KernelArguments& arguments) const {
    return reinterpret_cast<float*>(static_cast<char*>(arguments.scratch) + scale_);
  }

  const BatchNormFunctions::Normalize normalize_;
  const NormLimits limits_;
  const std::int64_t channels_;
  std::size_t scale_ = 0;
};

}  // namespace mezzo::xsimd_kernels
