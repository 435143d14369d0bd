#pragma once
#include <string>
#include <vector>

#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// How this machine computes in one dtype.
struct DTypeHardware {
  DType dtype = DType::float32;
  std::string onednn;     ///< "native", "emulated" (by wider arithmetic) or "absent"
  std::string products;   ///< how products are computed here: "native", or "emulated" in float32
  double matmul = 0;      ///< GFLOP/s of matrix products in training, forward and backward
  double conv2d = 0;      ///< the same of 3 x 3 convolutions
  double of_float32 = 1;  ///< the mean (geometric) of both rates, as a ratio to float32's
};

/// What there is to compute with.
struct Hardware {
  std::string cpu;
  int cores = 0;     ///< that this process may run on
  double quota = 0;  ///< cores' worth of time by its control group; 0: no limit
  int threads = 0;   ///< that mezzo uses
  std::string isa;   ///< the best that kernels use: "AVX512_CORE_BF16"
  bool amx = false;
  std::vector<DTypeHardware> dtypes;  ///< float32, bfloat16, float16, float64

  /// A table for people.
  std::string text() const;
};

/// Measures this machine, in about a second; `mezzo hardware` shows the same.
Hardware hardware();

}  // namespace mezzo
