#pragma once
#include <cstdint>

namespace mezzo {

/// Dynamic loss scaling, with the numbers of torch's GradScaler.
struct LossScaleOptions {
  double initial_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  ///< finite steps in a row before the scale grows
  double floor = 1.0 / 65536;           ///< never below; a step that overflows even there is an error
  double cap = 16777216;                ///< never above
};

/// The number that the seed of a float16 model's backward pass is multiplied by, so that small gradients survive.
class LossScale {
 public:
  LossScale() = default;
  explicit LossScale(const LossScaleOptions& options) : options_(options), scale_(options.initial_scale) {}

  double scale() const { return scale_; }
  std::int64_t skipped() const { return skipped_; }

  /// After a step: grows after an interval of finite ones, backs off after a non-finite one. Returns false if the
  /// scale was at its floor already.
  bool update(bool finite);

 private:
  LossScaleOptions options_;
  double scale_ = LossScaleOptions{}.initial_scale;
  std::int64_t finite_steps_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace mezzo
