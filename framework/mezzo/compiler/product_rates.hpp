#pragma once
#include <string>
#include <vector>

#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// How fast the products of a training step run here, in GFLOP/s: one forward and its two gradients, as plans would
/// compute them.
struct ProductRates {
  double matmul = 0;
  double conv2d = 0;
  std::string kernels;  ///< which implementations: "onednn", "onednn, widen"
};

/// Those of each dtype: for a floating `dtypes`, products of 384 x 384 matrices and 3 x 3 convolutions of (4, 28, 28,
/// 64) to 64 channels. The best of `rounds` rounds, which alternate between the dtypes. Takes some 0.02 s a dtype and
/// round on two cores; float64, which has no fast kernel, up to a second.
std::vector<ProductRates> product_rates(const std::vector<DType>& dtypes, int rounds);

/// How oneDNN computes products of a dtype on this CPU: natively, by wider arithmetic, or not at all.
enum class Support { native, emulated, absent };

/// Sets the function that dtype_support() calls; a backend implements it. Called once, by registration.cpp.
void register_dtype_support(Support (*support)(DType dtype));

/// Support for products of that dtype; absent if no backend is registered.
Support dtype_support(DType dtype);

}  // namespace mezzo
