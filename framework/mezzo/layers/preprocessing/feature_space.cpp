#include <mezzo/layers/preprocessing/feature_space.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/preprocessing/feature_adapter.hpp>
#include <mezzo/layers/preprocessing/feature_layout.hpp>
#include <mezzo/layers/preprocessing/feature_rows.hpp>

namespace mezzo {
namespace {

detail::Feature feature_with(const char* type, const std::function<void(detail::FeatureSettings&)>& set) {
  detail::FeatureSettings settings;
  settings.type = type;
  set(settings);
  return detail::Feature(std::move(settings));
}

detail::Feature categorical_feature(const char* type, const detail::CategoricalFeatureOptions& options) {
  return feature_with(type, [&](detail::FeatureSettings& settings) {
    settings.max_tokens = options.max_tokens;
    settings.num_oov_indices = options.num_oov_indices;
    settings.output_mode = options.output_mode;
  });
}

detail::Feature hashed_feature(const char* type, const detail::HashedFeatureOptions& options) {
  return feature_with(type, [&](detail::FeatureSettings& settings) {
    settings.num_bins = options.num_bins;
    settings.output_mode = options.output_mode;
  });
}

void check_widths_kept(const detail::FeatureLayout& before, const detail::FeatureLayout& after,
                       const std::string& where) {
  for (std::size_t i = 0; i < before.outputs().size(); ++i) {
    const auto& output = before.outputs()[i];
    detail::check_columns_kept(detail::label_of_feature(where, output.name) + " adapt:", output.width,
                               after.outputs()[i].width);
  }
}

}  // namespace

detail::Feature FeatureSpace::float_normalized() { return "float_normalized"; }

detail::Feature FeatureSpace::float_rescaled(double scale, double offset) {
  return feature_with("float_rescaled", [&](detail::FeatureSettings& settings) {
    settings.scale = scale;
    settings.offset = offset;
  });
}

detail::Feature FeatureSpace::float_discretized(const detail::DiscretizedFeatureOptions& options) {
  return feature_with("float_discretized", [&](detail::FeatureSettings& settings) {
    settings.num_bins = options.num_bins;
    settings.bin_boundaries = options.bin_boundaries;
    settings.output_mode = options.output_mode;
  });
}

detail::Feature FeatureSpace::integer_categorical(const detail::CategoricalFeatureOptions& options) {
  return categorical_feature("integer_categorical", options);
}

detail::Feature FeatureSpace::string_categorical(const detail::CategoricalFeatureOptions& options) {
  return categorical_feature("string_categorical", options);
}

detail::Feature FeatureSpace::integer_hashed(const detail::HashedFeatureOptions& options) {
  return hashed_feature("integer_hashed", options);
}

detail::Feature FeatureSpace::string_hashed(const detail::HashedFeatureOptions& options) {
  return hashed_feature("string_hashed", options);
}

detail::FeatureCross FeatureSpace::cross(std::vector<std::string> feature_names, std::int64_t crossing_dim,
                                         const detail::FeatureCrossOptions& options) {
  detail::FeatureCross cross(std::move(feature_names));
  cross.crossing_dim = crossing_dim;
  cross.output_mode = options.output_mode;
  return cross;
}

FeatureSpace::FeatureSpace(FeatureSpaceOptions options) : Layer("FeatureSpace", options) {
  set_options(detail::checked_options(std::move(options), label()));
}

void FeatureSpace::set_options(FeatureSpaceOptions options) {
  bool ready = true;
  for (const detail::FeatureSettings& feature : options.features.rows) {
    ready = ready && (feature.adapted || !detail::is_adaptable(feature));
  }
  auto layout = ready ? std::make_shared<const detail::FeatureLayout>(options, label()) : nullptr;
  if (layout && content_->layout && content_.in_use(*this)) check_widths_kept(*content_->layout, *layout, label());
  state()->options = options;
  content_.set({std::move(options), std::move(layout)});
}

const detail::FeatureLayout& FeatureSpace::layout() const {
  if (!content_->layout) fail<ValueError>(label(), "adapt() must be called first: it was not");
  return *content_->layout;
}

void FeatureSpace::adapt_to(const std::function<void(const std::function<void(const Table&)>&)>& for_each_table) {
  FeatureSpaceOptions options = content_->options;
  std::vector<detail::FeatureAdapter> adapters;
  for (const detail::FeatureSettings& feature : options.features.rows) {
    adapters.emplace_back(feature, detail::label_of_feature(label(), feature.name));
  }
  std::int64_t rows = 0;
  for_each_table([&](const Table& table) {
    rows += table.rows();
    for (std::size_t i = 0; i < adapters.size(); ++i) {
      adapters[i].add(detail::values_of(options.features.rows[i], table, options.fillna, label()));
    }
  });
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    detail::FeatureSettings& feature = options.features.rows[i];
    if (detail::is_adaptable(feature)) adapters[i].finish(feature);
  }
  if (rows == 0) fail<ValueError>(label(), "adapt: there must be rows; got none");
  set_options(std::move(options));
}

void FeatureSpace::adapt(const Table& table) {
  adapt_to([&](const auto& add) { add(table); });
}

void FeatureSpace::adapt(const CsvReader& chunks) {
  adapt_to([&](const auto& add) {
    for (const Table& part : chunks.from_start()) add(part);
  });
}

Tensor FeatureSpace::operator()(const Table& table) const {
  const detail::FeatureLayout& encoder = layout();
  if (content_->options.output_mode != "concat") {
    fail<ValueError>(label(), "output_mode must be \"concat\" to call it; got \"dict\": use encode()");
  }
  const std::vector<detail::FeatureValues> values = encoder.read(table);
  Tensor out = Tensor::uninitialized({table.rows(), encoder.width()}, DType::float32);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    encoder.encode_joined(values, row, out.mutable_data<float>() + row * encoder.width());
  }
  return out;
}

std::map<std::string, Tensor> FeatureSpace::encode(const Table& table) const {
  const detail::FeatureLayout& encoder = layout();
  const std::vector<detail::FeatureValues> values = encoder.read(table);
  std::vector<Tensor> tensors;
  std::vector<void*> places;
  for (const auto& output : encoder.outputs()) {
    tensors.push_back(Tensor::uninitialized({table.rows(), output.width}, output.dtype()));
    places.push_back(tensors.back().mutable_raw());
  }
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    encoder.encode(values, row, places.data());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& output = encoder.outputs()[i];
      places[i] = static_cast<char*>(places[i]) + output.width * static_cast<std::int64_t>(dtype_size(output.dtype()));
    }
  }
  std::map<std::string, Tensor> out;
  for (std::size_t i = 0; i < tensors.size(); ++i) out[encoder.outputs()[i].name] = std::move(tensors[i]);
  return out;
}

Dataset FeatureSpace::dataset(const Table& table, const FeatureDatasetOptions& options) const {
  layout();
  return detail::FeatureRows(content_->layout, content_->options.output_mode == "concat", table, options, label());
}

std::int64_t FeatureSpace::width() const { return layout().width(); }

std::vector<std::string> FeatureSpace::get_vocabulary(const std::string& feature) const {
  return layout().vocabulary(feature);
}

Values FeatureSpace::call_many(const Values& xs) {
  const detail::FeatureLayout& encoder = layout();
  content_.note_call();
  const bool joined = content_->options.output_mode == "concat";
  const std::size_t count = joined ? 1 : encoder.outputs().size();
  if (xs.size() != count) {
    fail<ValueError>(label(), "takes {} inputs, the encoded features; got {}", count, xs.size());
  }
  Values out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t width = joined ? encoder.width() : encoder.outputs()[i].width;
    const Shape& shape = xs[i].shape();
    if (shape.empty() || shape.back() != width) {
      fail<ShapeError>(label(), "input axis -1 must be {} (columns of {}); got shape {}", width,
                       joined ? "the encoded features" : encoder.outputs()[i].name, shape);
    }
    out.push_back(identity(xs[i]));  // a functional model keeps layers with the nodes that they make
  }
  return out;
}

}  // namespace mezzo
