#pragma once
#include <string>
#include <vector>

#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// Measured rates of a product together with its two gradients, computed by the kernels that plans use. 0: the rounds
/// don't agree on the rate, or there was only one.
struct ProductRates {
  double matmul = 0;    ///< GFLOP/s
  double conv2d = 0;    ///< GFLOP/s
  std::string kernels;  ///< names of the implementations: "onednn", "onednn, widen"
};

/// Measures the rates for each of `dtypes`, which must be floating: products of 384 x 384 matrices, and 3 x 3
/// convolutions of (4, 28, 28, 64) to 64 channels. Returns the best of `rounds` rounds, in which the dtypes take turns.
/// Takes about 0.02 s per dtype and round on two cores, and up to 1 s for float64 (no fast kernel).
std::vector<ProductRates> product_rates(const std::vector<DType>& dtypes, int rounds);

/// Support of oneDNN for products of a dtype on this CPU: native, emulated with wider arithmetic, or absent.
enum class Support { native, emulated, absent };

/// Sets the function that dtype_support() calls; a backend implements it. Called once, by registration.cpp.
void register_dtype_support(Support (*support)(DType dtype));

/// Support for products of that dtype; absent if no backend is registered.
Support dtype_support(DType dtype);

/// True if this CPU multiplies bfloat16 faster than float32.
bool has_fast_bfloat16();

}  // namespace mezzo
