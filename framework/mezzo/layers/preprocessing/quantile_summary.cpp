#include <mezzo/layers/preprocessing/quantile_summary.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

/// numpy.interp: linear between points, constant outside.
double interpolated_at(double x, const std::vector<double>& xs, const std::vector<double>& ys) {
  if (x <= xs.front())
    return x < xs.front() ? ys.front()
                          : ys[static_cast<std::size_t>(std::upper_bound(xs.begin(), xs.end(), x) - xs.begin() - 1)];
  if (x >= xs.back()) return ys.back();
  const auto next = static_cast<std::size_t>(std::upper_bound(xs.begin(), xs.end(), x) - xs.begin());
  const double slope = (ys[next] - ys[next - 1]) / (xs[next] - xs[next - 1]);
  return slope * (x - xs[next - 1]) + ys[next - 1];
}

}  // namespace

QuantileSummary QuantileSummary::compressed(double epsilon) const {
  if (static_cast<double>(values_.size()) * epsilon < 1) return *this;
  std::vector<double> sums, shares;
  float sum = 0;
  for (const float weight : weights_) sums.push_back(static_cast<double>(sum += weight));
  for (const double one : sums) shares.push_back(static_cast<double>(static_cast<float>(one) / sum));
  const std::vector<double> values(values_.begin(), values_.end());
  QuantileSummary out(epsilon_);
  double before = 0;
  const auto count = static_cast<std::int64_t>(std::ceil(1.0 / epsilon));
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = epsilon + static_cast<double>(i) * epsilon;
    const double weight = interpolated_at(share, shares, sums);
    out.values_.push_back(static_cast<float>(interpolated_at(share, shares, values)));
    out.weights_.push_back(static_cast<float>(weight - before));
    before = weight;
  }
  return out;
}

void QuantileSummary::add(const Tensor& data, const std::string& where) {
  const Tensor floats = data.cast(DType::float32);
  std::vector<float> sorted(floats.data<float>(), floats.data<float>() + floats.size());
  for (const float number : sorted) {
    if (!std::isfinite(number)) fail<ValueError>(where, "adapt: numbers must be finite; got {}", number);
  }
  std::sort(sorted.begin(), sorted.end());
  const double step = std::max(static_cast<double>(sorted.size()) * epsilon_, 1.0);
  std::vector<std::pair<float, float>> all;
  for (auto i = static_cast<std::size_t>(step - 1); i < sorted.size(); i += static_cast<std::size_t>(step)) {
    all.emplace_back(sorted[i], static_cast<float>(step));
  }
  for (std::size_t i = 0; i < values_.size(); ++i) all.emplace_back(values_[i], weights_[i]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  values_.clear();
  weights_.clear();
  for (const auto& [value, weight] : all) {
    values_.push_back(value);
    weights_.push_back(weight);
  }
  *this = compressed(epsilon_);
}

std::vector<double> QuantileSummary::boundaries(std::int64_t num_bins) const {
  const QuantileSummary all = compressed(1.0 / static_cast<double>(num_bins));
  return {all.values_.begin(), all.values_.end() - 1};
}

void check_boundaries(const std::vector<double>& boundaries, const std::string& where) {
  const bool number = std::none_of(boundaries.begin(), boundaries.end(), [](double x) { return std::isnan(x); });
  if (number && std::is_sorted(boundaries.begin(), boundaries.end())) return;
  fail<ValueError>(where, "bin_boundaries must be in ascending order; got ({})", fmt::join(boundaries, ", "));
}

std::vector<double> boundaries_for(DType dtype, const std::vector<double>& boundaries) {
  std::vector<double> out = boundaries;
  if (dtype == DType::float64 || !is_floating(dtype)) return out;
  for (double& one : out) one = static_cast<double>(static_cast<float>(one));
  return out;
}

std::int64_t bin_of_number(double number, const std::vector<double>& boundaries) {
  return std::upper_bound(boundaries.begin(), boundaries.end(), number) - boundaries.begin();
}

}  // namespace mezzo::detail
