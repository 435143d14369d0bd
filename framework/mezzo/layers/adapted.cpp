#include <algorithm>
#include <cmath>
#include <map>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/encode_categories.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/data/text/index_lookup.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/layers/discretization.hpp>
#include <mezzo/layers/integer_lookup.hpp>
#include <mezzo/layers/normalization.hpp>
#include <mezzo/layers/preprocessing.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>

// Layers with adapt(): Normalization, Discretization and IntegerLookup.
namespace mezzo {

Normalization::Normalization(NormalizationOptions options)
    : Layer("Normalization", options), options_(std::move(options)) {
  const auto& [mean, variance] = std::tie(options_.mean, options_.variance);
  if (mean.has_value() != variance.has_value()) {
    fail<ValueError>(label(), "mean and variance must be given together; got {} alone", mean ? "mean" : "variance");
  }
  if (!mean) return;
  if (mean->shape() != variance->shape() || mean->shape().size() > options_.axis.size()) {
    fail<ShapeError>(label(), "mean and variance must have one shape of at most {} axes; got {} and {}",
                     options_.axis.size(), mean->shape(), variance->shape());
  }
}

std::vector<bool> Normalization::kept(const Shape& input) const {
  std::vector<bool> kept(input.size());
  for (const std::int64_t axis : options_.axis) {
    const auto place = static_cast<std::size_t>(normalize_axis(axis, input.size(), label()));
    if (input[place] < 0) fail<ShapeError>(label(), "axis {} must have a known size; got shape {}", axis, input);
    kept[place] = true;
  }
  return kept;
}

Shape Normalization::broadcast_shape(const Shape& input) const {
  Shape shape = input;
  const std::vector<bool> own = kept(input);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!own[i]) shape[i] = 1;
  }
  return shape;
}

void Normalization::build(const Shape& input) {
  const std::vector<bool> own = kept(input);
  if (options_.mean) return;
  Shape shape;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i]) shape.push_back(input[i]);
  }
  add_weight(mean_, {.shape = shape, .initializer = "zeros", .trainable = false, .at_least_float32 = true});
  add_weight(variance_, {.shape = shape, .initializer = "ones", .trainable = false, .at_least_float32 = true});
}

namespace {

/// Count, mean and sum of squared distances of the numbers at each place, added batch by batch (Chan et al., 1979).
class Moments {
 public:
  void add(const Tensor& batch, const std::vector<bool>& kept) {
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

  bool empty() const { return count_ == 0; }
  Tensor mean(const Shape& shape) const { return Tensor(shape, mean_); }
  Tensor variance(const Shape& shape) const {
    std::vector<double> variance = squares_;
    for (double& one : variance) one /= count_;
    return Tensor(shape, variance);
  }

 private:
  double count_ = 0;
  std::vector<double> mean_, squares_;
};

}  // namespace

void Normalization::adapt(const Tensor& data) {
  if (data.shape().empty()) fail<ShapeError>(label(), "adapt: the array must have an axis of samples; got shape ()");
  if (data.size() == 0) fail<ShapeError>(label(), "adapt: the array must have numbers; got shape {}", data.shape());
  adapt(Dataset::from_tensors({{"x", data}}), "x");
}

void Normalization::adapt(const Dataset& data, const std::string& field) {
  if (options_.mean) fail<ValueError>(label(), "adapt: mean and variance were given and can't be adapted");
  Moments moments;
  detail::for_each_batch(data, field, label(), [&](const Tensor& batch) {
    if (moments.empty()) {
      Shape input = batch.shape();
      input[0] = -1;
      build(input);
    }
    Shape input = batch.shape();
    input[0] = -1;
    moments.add(batch, kept(input));
  });
  if (moments.empty()) fail<ShapeError>(label(), "adapt: samples must have numbers; got none");
  mean_.assign(moments.mean(mean_.shape()));
  variance_.assign(moments.variance(mean_.shape()));
}

Value Normalization::call(const Value& x) {
  const Shape shape = broadcast_shape(x.shape());
  const DType dtype = compute_dtype();
  const auto wide = [&](const Value& given) {
    if (!options_.mean || given.shape().empty()) return given;
    // A size for each of the last kept axes.
    Shape to(shape.size(), 1);
    const std::vector<bool> own = kept(x.shape());
    std::size_t from = given.shape().size();
    for (std::size_t i = shape.size(); i-- > 0 && from > 0;) {
      if (own[i]) to[i] = given.shape()[--from];
    }
    return reshape(given, to);
  };
  const auto of = [&](const std::optional<Tensor>& given, const Variable& variable) {
    const Value value = given ? wide(Value(*given)) : reshape(Value(variable), shape);
    return detail::as(value, dtype);
  };
  const Value mean = of(options_.mean, mean_);
  const Value scale = maximum(sqrt(of(options_.variance, variance_)), 1e-7);
  const Value given = detail::as(x, dtype);
  return options_.invert ? mean + given * scale : (given - mean) / scale;
}

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
  *boundaries_ = std::move(boundaries);
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
      {x}, [mode, depth](const Shape& shape) { return detail::encoded_shape(shape, mode, depth); }, dtype,
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

struct detail::IntegerTable {
  IndexLookup<std::int64_t> lookup;
};

IntegerLookup::IntegerLookup(IntegerLookupOptions options)
    : Layer("IntegerLookup", options), options_(std::move(options)) {
  if (options_.oov_method != "floormod" && options_.oov_method != "farmhash") {
    fail<NameError>(label(), "unknown oov_method \"{}\"; valid names: farmhash, floormod", options_.oov_method);
  }
  detail::check_salt(options_.salt, label());
  if (!options_.salt.empty() && options_.oov_method != "farmhash") {
    fail<ValueError>(label(), "oov_method must be \"farmhash\" with salt; got \"{}\"", options_.oov_method);
  }
  detail::LookupSettings<std::int64_t> settings;
  settings.where = label();
  settings.max_tokens = options_.max_tokens;
  settings.num_oov_indices = options_.num_oov_indices;
  settings.mask_token = options_.mask_token;
  settings.oov_token = options_.oov_token;
  settings.invert = options_.invert;
  settings.output_mode = options_.output_mode;
  settings.pad_to_max_tokens = options_.pad_to_max_tokens;
  table_ = std::make_shared<detail::IntegerTable>(
      detail::IntegerTable{detail::IndexLookup<std::int64_t>(std::move(settings))});
  if (options_.vocabulary.empty()) {
    if (!options_.idf_weights.empty()) fail<ValueError>(label(), "vocabulary must be given with idf_weights");
    return;
  }
  table_->lookup.set_vocabulary(options_.vocabulary, options_.idf_weights);
  adaptable_ = false;
}

void IntegerLookup::save_vocabulary() {
  IntegerLookupOptions saved = options_;
  saved.vocabulary = table_->lookup.vocabulary(true);
  saved.idf_weights = table_->lookup.idf_weights();
  if (!saved.idf_weights.empty()) saved.idf_weights.resize(saved.vocabulary.size());
  state()->options = saved;
}

void IntegerLookup::adapt(const Tensor& data) {
  if (data.shape().empty() || data.size() == 0) {
    fail<ValueError>(label(), "adapt: the array must have integers; got shape {}", data.shape());
  }
  adapt(Dataset::from_tensors({{"x", data}}), "x");
}

void IntegerLookup::adapt(const Dataset& data, const std::string& field) {
  if (!adaptable_) fail<ValueError>(label(), "adapt: the vocabulary was given and can't be adapted");
  std::vector<std::vector<std::int64_t>> documents;
  detail::for_each_batch(data, field, label(), [&](const Tensor& batch) {
    if (is_floating(batch.dtype())) fail<DTypeError>(label(), "adapt: data must be integers; got {}", batch.dtype());
    const Tensor wide = batch.cast(DType::int64);
    const std::int64_t row = wide.size() / wide.shape()[0];
    for (std::int64_t i = 0; i < wide.shape()[0]; ++i) {
      documents.emplace_back(wide.data<std::int64_t>() + i * row, wide.data<std::int64_t>() + (i + 1) * row);
    }
  });
  table_->lookup.adapt(documents);
  save_vocabulary();
}

void IntegerLookup::set_vocabulary(const std::vector<std::int64_t>& vocabulary,
                                   const std::vector<double>& idf_weights) {
  table_->lookup.set_vocabulary(vocabulary, idf_weights);
  save_vocabulary();
}

std::vector<std::int64_t> IntegerLookup::get_vocabulary(bool include_special_tokens) const {
  return table_->lookup.vocabulary(include_special_tokens);
}

std::int64_t IntegerLookup::vocabulary_size() const { return table_->lookup.size(); }

Value IntegerLookup::call(const Value& x) {
  table_->lookup.require_vocabulary();
  const std::string mode = options_.output_mode == "tf_idf" ? "count" : options_.output_mode;
  const DType dtype = options_.output_mode == "tf_idf" ? DType::float32 : DType::int64;
  const std::int64_t depth = table_->lookup.depth();
  return detail::on_host(
      {x}, [mode, depth](const Shape& shape) { return detail::encoded_shape(shape, mode, depth); }, dtype,
      [table = table_, options = options_, where = label()](const std::vector<Tensor>& given) {
        // Not earlier: Sequential builds its layers with a symbol of float32.
        if (is_floating(given[0].dtype())) fail<DTypeError>(where, "input must be integers; got {}", given[0].dtype());
        Tensor out = given[0].cast(DType::int64);
        auto* const numbers = out.mutable_data<std::int64_t>();
        const std::int64_t places = options.num_oov_indices;
        const auto unknown = [&](std::int64_t token) {
          if (options.oov_method == "floormod") return ((token % places) + places) % places;
          const std::uint64_t hash = detail::salted_hash(std::to_string(token), options.salt);
          return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(places));
        };
        for (std::int64_t i = 0; i < out.size(); ++i) {
          numbers[i] =
              options.invert ? table->lookup.token_of(numbers[i]) : table->lookup.index_of(numbers[i], unknown);
        }
        return options.invert ? out : table->lookup.encoded(out);
      });
}

}  // namespace mezzo
