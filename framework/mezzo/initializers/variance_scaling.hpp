#pragma once
#include <optional>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

namespace detail {
/// Numbers of input and output units of a weight.
struct Fans {
  double in = 1;   ///< inputs of an output unit
  double out = 1;  ///< outputs of an input unit
};

/// Fans of a weight, as in Keras: (in, out) of a matrix; in and out times the kernel's area for a convolution (..., in,
/// out); the size for a vector; 1 for a scalar.
MEZZO_API Fans compute_fans(const Shape& shape);
}  // namespace detail

struct VarianceScalingOptions {
  double scale = 1;                               ///< factor of the variance, above 0
  std::string mode = "fan_in";                    ///< "fan_in", "fan_out" or "fan_avg" (the mean of both)
  std::string distribution = "truncated_normal";  ///< "truncated_normal" ("normal"), "untruncated_normal" or "uniform"
  std::optional<std::uint64_t> seed{};            ///< fixes the numbers; default: from seed_everything()
};

/// Draws numbers of mean 0 and variance scale / max(1, fan), as in Keras. The standard deviation of a truncated normal
/// is corrected for the truncation.
class MEZZO_API VarianceScaling : public Initializer {
 public:
  /// A ValueError for a scale that isn't above 0, a NameError for an unknown mode or distribution.
  explicit VarianceScaling(VarianceScalingOptions options = {});
  explicit VarianceScaling(double scale, std::string mode = "fan_in", std::string distribution = "truncated_normal")
      : VarianceScaling(VarianceScalingOptions{scale, std::move(mode), std::move(distribution), {}}) {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

  /// Returns the options given to the constructor.
  const VarianceScalingOptions& options() const { return options_; }

 private:
  VarianceScalingOptions options_;
};

struct SeedOptions {
  std::optional<std::uint64_t> seed{};  ///< fixes the numbers; default: from seed_everything()
};

/// Uniform, of variance 2 / (in + out) (Glorot and Bengio, 2010).
class MEZZO_API GlorotUniform : public VarianceScaling {
 public:
  explicit GlorotUniform(const SeedOptions& options = {});
};

/// Truncated normal, of variance 2 / (in + out) (Glorot and Bengio, 2010).
class MEZZO_API GlorotNormal : public VarianceScaling {
 public:
  explicit GlorotNormal(const SeedOptions& options = {});
};

/// Uniform, of variance 2 / in (He et al., 2015).
class MEZZO_API HeUniform : public VarianceScaling {
 public:
  explicit HeUniform(const SeedOptions& options = {});
};

/// Truncated normal, of variance 2 / in (He et al., 2015).
class MEZZO_API HeNormal : public VarianceScaling {
 public:
  explicit HeNormal(const SeedOptions& options = {});
};

/// Uniform, of variance 1 / in (LeCun et al., 1998).
class MEZZO_API LecunUniform : public VarianceScaling {
 public:
  explicit LecunUniform(const SeedOptions& options = {});
};

/// Truncated normal, of variance 1 / in (LeCun et al., 1998).
class MEZZO_API LecunNormal : public VarianceScaling {
 public:
  explicit LecunNormal(const SeedOptions& options = {});
};

}  // namespace mezzo
