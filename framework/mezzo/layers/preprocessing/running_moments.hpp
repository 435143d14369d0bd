#pragma once
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Count, mean and sum of squared distances of the numbers at each place, added batch by batch (Chan et al., 1979).
class RunningMoments {
 public:
  /// Adds a batch. `kept` is true for the axes whose places have numbers of their own.
  void add(const Tensor& batch, const std::vector<bool>& kept);

  bool empty() const { return count_ == 0; }
  Tensor mean(const Shape& shape) const { return Tensor(shape, mean_); }
  /// The biased variance.
  Tensor variance(const Shape& shape) const;

  /// Throws a ValueError that starts with `where` if a mean or variance isn't finite.
  void check_finite(const std::string& where) const;

 private:
  double count_ = 0;
  std::vector<double> mean_, squares_;
};

}  // namespace mezzo::detail
