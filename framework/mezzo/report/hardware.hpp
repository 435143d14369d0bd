#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// Speed of this machine in one dtype. Rates of 0: two halves of the measurement differ by more than a tenth, so the
/// rates are not reproducible.
struct DTypeHardware {
  DType dtype = DType::float32;  ///< measured dtype of the operands
  std::string onednn;            ///< support in oneDNN: "native", "emulated" (by wider arithmetic) or "absent"
  std::string products;          ///< products in mezzo: "native", or "emulated" in float32
  double matmul = 0;             ///< GFLOP/s of matrix products in training, forward and backward
  double conv2d = 0;             ///< GFLOP/s of 3 x 3 convolutions in training, forward and backward
  double of_float32 = 1;         ///< geometric mean of both rates, as a ratio to that of float32
};

/// Compute resources of this process.
struct MEZZO_API Hardware {
  std::string cpu;                    ///< model name
  int cores = 0;                      ///< cores that this process may run on
  double quota = 0;                   ///< CPU quota of the control group, in cores; 0: no limit
  int threads = 0;                    ///< threads that mezzo uses
  std::string isa;                    ///< widest instruction set that kernels use: "AVX512_CORE_BF16"
  bool amx = false;                   ///< true if the CPU has AMX
  std::vector<DTypeHardware> dtypes;  ///< float32, bfloat16, float16, float64

  /// Table of all fields.
  std::string text() const;
};

/// Measures this machine, in a few seconds. `mezzo hardware` prints the result.
MEZZO_API Hardware hardware();

}  // namespace mezzo
