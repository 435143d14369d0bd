#pragma once
#include <string>

#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// Units that an element of a weight connects: those of (in, out) for a matrix; for a convolution's kernel
/// (..., in, out) each times the kernel's area; the size for a vector.
struct Fans {
  double in = 1;
  double out = 1;
};
Fans compute_fans(const Shape& shape);

/// `mode`: "fan_in", "fan_out" or "fan_avg". `distribution`: "truncated_normal" (or "normal"),
/// "untruncated_normal" or "uniform".
struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";
  std::string distribution = "truncated_normal";
};

/// Random numbers of mean 0 and variance scale / n, where n is the mode's number of units, at least 1 (Keras). A
/// truncated normal is widened so that its variance after truncation is that.
class VarianceScaling : public Initializer {
 public:
  /// A ValueError for a scale that isn't positive, a NameError for another mode or distribution.
  explicit VarianceScaling(VarianceScalingOptions options = {});
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

 private:
  VarianceScalingOptions options_;
};

/// Glorot and Bengio, 2010: variance 2 / (in + out), uniform.
class GlorotUniform : public VarianceScaling {
 public:
  GlorotUniform() : VarianceScaling({1, "fan_avg", "uniform"}) {}
};

/// The same, truncated normal.
class GlorotNormal : public VarianceScaling {
 public:
  GlorotNormal() : VarianceScaling({1, "fan_avg", "truncated_normal"}) {}
};

/// He et al., 2015: variance 2 / in, uniform.
class HeUniform : public VarianceScaling {
 public:
  HeUniform() : VarianceScaling({2, "fan_in", "uniform"}) {}
};

/// The same, truncated normal.
class HeNormal : public VarianceScaling {
 public:
  HeNormal() : VarianceScaling({2, "fan_in", "truncated_normal"}) {}
};

/// LeCun et al., 1998: variance 1 / in, uniform.
class LecunUniform : public VarianceScaling {
 public:
  LecunUniform() : VarianceScaling({1, "fan_in", "uniform"}) {}
};

/// The same, truncated normal.
class LecunNormal : public VarianceScaling {
 public:
  LecunNormal() : VarianceScaling({1, "fan_in", "truncated_normal"}) {}
};

}  // namespace mezzo
