#include <mezzo/layers/preprocessing/running_moments.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void RunningMoments::add(const Tensor& batch, const std::vector<bool>& kept) {
  const Shape& shape = batch.shape();
  std::vector<std::int64_t> steps(shape.size());  // of the place, 0 for axes without places
  std::int64_t places = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (!kept[i]) continue;
    steps[i] = places;
    places *= shape[i];
  }
  if (batch.size() == 0) return;
  mean_.resize(static_cast<std::size_t>(places));
  squares_.resize(static_cast<std::size_t>(places));
  const std::vector<double> numbers = batch.to_doubles();
  std::vector<std::size_t> at(numbers.size());
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) place += index[i] * steps[i];
    at[n] = static_cast<std::size_t>(place);
    for (std::size_t i = shape.size(); i-- > 0 && ++index[i] == shape[i];) index[i] = 0;
  }
  std::vector<double> mean(mean_.size()), squares(mean_.size());
  const double count = static_cast<double>(batch.size()) / static_cast<double>(places);
  for (std::size_t n = 0; n < numbers.size(); ++n) mean[at[n]] += numbers[n] / count;
  for (std::size_t n = 0; n < numbers.size(); ++n) squares[at[n]] += std::pow(numbers[n] - mean[at[n]], 2);
  for (std::size_t p = 0; p < mean.size(); ++p) {
    const double distance = mean[p] - mean_[p];
    squares_[p] += squares[p] + distance * distance * count_ * count / (count_ + count);
    mean_[p] += distance * count / (count_ + count);
  }
  count_ += count;
}

Tensor RunningMoments::variance(const Shape& shape) const {
  std::vector<double> variance = squares_;
  for (double& one : variance) one /= count_;
  return Tensor(shape, variance);
}

void RunningMoments::check_finite(const std::string& where) const {
  for (std::size_t p = 0; p < mean_.size(); ++p) {
    const double variance = squares_[p] / count_;
    if (std::isfinite(mean_[p]) && std::isfinite(variance)) continue;
    fail<ValueError>(where, "adapt: mean and variance must be finite; got {} and {}", mean_[p], variance);
  }
}

}  // namespace mezzo::detail
