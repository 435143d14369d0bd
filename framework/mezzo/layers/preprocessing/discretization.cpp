#include <mezzo/layers/preprocessing/discretization.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/data/encode_categories.hpp>
#include <mezzo/layers/preprocessing/preprocessing.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

/// Values in ascending order with their weights, as Keras' Discretization keeps them, in float32.
struct Summary {
  std::vector<float> values, weights;
};

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

Summary compressed(const Summary& summary, double epsilon) {
  if (static_cast<double>(summary.values.size()) * epsilon < 1) return summary;
  std::vector<double> sums, shares;
  float sum = 0;
  for (const float weight : summary.weights) sums.push_back(static_cast<double>(sum += weight));
  for (const double one : sums) shares.push_back(static_cast<double>(static_cast<float>(one) / sum));
  const std::vector<double> values(summary.values.begin(), summary.values.end());
  Summary out;
  double before = 0;
  const auto count = static_cast<std::int64_t>(std::ceil(1.0 / epsilon));
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = epsilon + static_cast<double>(i) * epsilon;
    const double weight = interpolated_at(share, shares, sums);
    out.values.push_back(static_cast<float>(interpolated_at(share, shares, values)));
    out.weights.push_back(static_cast<float>(weight - before));
    before = weight;
  }
  return out;
}

/// Adds the numbers of an array.
Summary merged(const Summary& before, const Tensor& data, double epsilon) {
  const Tensor floats = data.cast(DType::float32);
  std::vector<float> sorted(floats.data<float>(), floats.data<float>() + floats.size());
  std::sort(sorted.begin(), sorted.end());
  const double step = std::max(static_cast<double>(sorted.size()) * epsilon, 1.0);
  std::vector<std::pair<float, float>> all;
  for (auto i = static_cast<std::size_t>(step - 1); i < sorted.size(); i += static_cast<std::size_t>(step)) {
    all.emplace_back(sorted[i], static_cast<float>(step));
  }
  for (std::size_t i = 0; i < before.values.size(); ++i) all.emplace_back(before.values[i], before.weights[i]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Summary both;
  for (const auto& [value, weight] : all) {
    both.values.push_back(value);
    both.weights.push_back(weight);
  }
  return compressed(both, epsilon);
}

}  // namespace

Discretization::Discretization(DiscretizationOptions options)
    : Layer("Discretization", options),
      options_(std::move(options)),
      boundaries_(std::make_shared<std::vector<double>>(options_.bin_boundaries)) {
  if (options_.num_bins.has_value() != options_.bin_boundaries.empty()) {
    fail<ValueError>(label(), "one of bin_boundaries and num_bins must be given; got {}",
                     options_.num_bins ? "both" : "neither");
  }
  if (options_.num_bins) detail::require_positive(label(), "num_bins", *options_.num_bins);
  if (!std::is_sorted(boundaries_->begin(), boundaries_->end())) {
    fail<ValueError>(label(), "bin_boundaries must be in ascending order; got ({})", fmt::join(*boundaries_, ", "));
  }
  if (!(options_.epsilon > 0 && options_.epsilon < 1)) {
    fail<ValueError>(label(), "epsilon must lie in (0, 1); got {}", options_.epsilon);
  }
  detail::check_output_mode(options_.output_mode, label(), true);
}

void Discretization::set_boundaries(std::vector<double> boundaries) {
  *detail::unmoved<Discretization>(boundaries_) = std::move(boundaries);
  DiscretizationOptions saved = options_;
  saved.bin_boundaries = *boundaries_;
  if (!boundaries_->empty()) saved.num_bins.reset();
  state()->options = saved;
}

void Discretization::adapt(const Tensor& data) {
  if (data.shape().empty() || data.size() == 0) {
    fail<ValueError>(label(), "adapt: the array must have numbers; got shape {}", data.shape());
  }
  if (!options_.num_bins) fail<ValueError>(label(), "adapt: bin_boundaries were given and can't be adapted");
  const Summary all = compressed(merged({}, data, options_.epsilon), 1.0 / static_cast<double>(*options_.num_bins));
  set_boundaries({all.values.begin(), all.values.end() - 1});
}

void Discretization::adapt(const Dataset& data, const std::string& field) {
  if (!options_.num_bins) fail<ValueError>(label(), "adapt: bin_boundaries were given and can't be adapted");
  Summary summary;
  detail::for_each_batch(data, field, label(),
                         [&](const Tensor& batch) { summary = merged(summary, batch, options_.epsilon); });
  if (summary.values.empty()) fail<ValueError>(label(), "adapt: samples must have numbers; got none");
  const Summary all = compressed(summary, 1.0 / static_cast<double>(*options_.num_bins));
  set_boundaries({all.values.begin(), all.values.end() - 1});
}

Value Discretization::call(const Value& x) {
  if (boundaries_->empty() && options_.num_bins.value_or(0) != 1) {
    fail<ValueError>(label(), "there are no boundaries; give bin_boundaries or call adapt()");
  }
  const std::string mode = options_.output_mode;
  const DType dtype = mode == "int" ? DType::int32 : compute_dtype();
  const auto depth = static_cast<std::int64_t>(boundaries_->size()) + 1;
  return detail::on_host(
      {x.across_border(false)}, [mode, depth](const Shape& shape) { return detail::encoded_shape(shape, mode, depth); },
      dtype,
      [boundaries = boundaries_, mode, depth, dtype, where = label()](const std::vector<Tensor>& given) {
        const std::vector<double> numbers = given[0].to_doubles();
        Tensor bins(given[0].shape(), DType::int64);
        auto* out = bins.mutable_data<std::int64_t>();
        for (const double number : numbers) {
          *out++ = std::upper_bound(boundaries->begin(), boundaries->end(), number) - boundaries->begin();
        }
        return detail::encode_categories(bins, mode, depth, dtype, where);
      });
}

}  // namespace mezzo
