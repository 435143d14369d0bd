#include <mezzo/layers/preprocessing/discretization.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/encode_categories.hpp>
#include <mezzo/layers/preprocessing/preprocessing.hpp>
#include <mezzo/layers/preprocessing/quantile_summary.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

Discretization::Discretization(DiscretizationOptions options)
    : Layer("Discretization", options), options_(std::move(options)), boundaries_(options_.bin_boundaries) {
  if (options_.num_bins.has_value() != options_.bin_boundaries.empty()) {
    fail<ValueError>(label(), "one of bin_boundaries and num_bins must be given; got {}",
                     options_.num_bins ? "both" : "neither");
  }
  if (options_.num_bins) detail::require_positive(label(), "num_bins", *options_.num_bins);
  detail::check_boundaries(*boundaries_, label());
  if (!(options_.epsilon > 0 && options_.epsilon < 1)) {
    fail<ValueError>(label(), "epsilon must lie in (0, 1); got {}", options_.epsilon);
  }
  detail::check_output_mode(options_.output_mode, label(), true);
}

void Discretization::set_boundaries(std::vector<double> boundaries) {
  const std::vector<double>& before = boundaries_.of(typeid(Discretization));
  if (options_.output_mode != "int" && boundaries_.in_use(*this)) {
    detail::check_columns_kept(label() + " adapt:", static_cast<std::int64_t>(before.size()) + 1,
                               static_cast<std::int64_t>(boundaries.size()) + 1);
  }
  boundaries_.set(std::move(boundaries));
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
  detail::QuantileSummary summary(options_.epsilon);
  summary.add(data, label());
  set_boundaries(summary.boundaries(*options_.num_bins));
}

void Discretization::adapt(const Dataset& data, const std::string& field) {
  if (!options_.num_bins) fail<ValueError>(label(), "adapt: bin_boundaries were given and can't be adapted");
  detail::QuantileSummary summary(options_.epsilon);
  detail::for_each_batch(data, field, label(), [&](const Tensor& batch) { summary.add(batch, label()); });
  if (summary.empty()) fail<ValueError>(label(), "adapt: samples must have numbers; got none");
  set_boundaries(summary.boundaries(*options_.num_bins));
}

Value Discretization::call(const Value& x) {
  if (boundaries_->empty() && options_.num_bins.value_or(0) != 1) {
    fail<ValueError>(label(), "there are no boundaries; give bin_boundaries or call adapt()");
  }
  boundaries_.note_call();
  const std::string mode = options_.output_mode;
  const DType dtype = mode == "int" ? DType::int32 : compute_dtype();
  const auto depth = static_cast<std::int64_t>(boundaries_->size()) + 1;
  return detail::on_host(
      {x.across_border(false)}, [mode, depth](const Shape& shape) { return detail::encoded_shape(shape, mode, depth); },
      dtype,
      [boundaries = boundaries_.pointer(), mode, depth, dtype, where = label()](const std::vector<Tensor>& given) {
        const std::vector<double> edges = detail::boundaries_for(given[0].dtype(), *boundaries);
        Tensor bins(given[0].shape(), DType::int64);
        auto* out = bins.mutable_data<std::int64_t>();
        for (const double number : given[0].to_doubles()) *out++ = detail::bin_of_number(number, edges);
        return detail::encode_categories(bins, mode, depth, dtype, where);
      },
      detail::encoding_of(mode, depth, *boundaries_));
}

}  // namespace mezzo
