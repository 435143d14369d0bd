#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Numbers in ascending order with their weights, from which quantiles are estimated: Keras' summary of
/// Discretization.adapt(), in float32. The result depends on how the numbers are divided into batches.
class QuantileSummary {
 public:
  /// `epsilon`: error of the quantiles, in (0, 1).
  explicit QuantileSummary(double epsilon) : epsilon_(epsilon) {}

  bool empty() const { return values_.empty(); }

  /// Adds a batch of numbers. Throws a ValueError that starts with `where` if one isn't finite in float32.
  void add(const Tensor& data, const std::string& where);

  /// Boundaries of that many bins; fewer, if there were fewer numbers. Requires that there are numbers.
  std::vector<double> boundaries(std::int64_t num_bins) const;

 private:
  QuantileSummary compressed(double epsilon) const;

  double epsilon_;
  std::vector<float> values_, weights_;
};

/// Throws a ValueError that starts with `where` unless boundaries are in ascending order.
void check_boundaries(const std::vector<double>& boundaries, const std::string& where);

/// Boundaries as numbers of a dtype are compared with them: rounded to float32 for floats but float64.
std::vector<double> boundaries_for(DType dtype, const std::vector<double>& boundaries);

/// Number of the bin of a number: the count of boundaries that are not above it.
std::int64_t bin_of_number(double number, const std::vector<double>& boundaries);

}  // namespace mezzo::detail
