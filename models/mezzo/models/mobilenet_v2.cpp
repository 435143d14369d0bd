#include <mezzo/models/mobilenet_v2.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/models/conv_norm.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

struct InvertedResidualOptions {
  std::int64_t input = 0;   ///< channels of the input
  std::int64_t output = 0;  ///< channels of the output
  std::int64_t stride = 1;  ///< of the depthwise convolution
  std::int64_t expand = 1;  ///< factor from `input` to the channels of the depthwise convolution
  double epsilon = 1e-5;    ///< of batch normalizations
  bool tf_padding = false;  ///< true: pads as TensorFlow
  std::string name{};       ///< name of the layer; "": automatic
  Policy dtype{};           ///< precision policy; default: the policy of the enclosing layer or model
};

/// Convolution of size 1 to more channels, depthwise convolution, linear convolution of size 1 to fewer; plus the input
/// if the shapes are equal.
class InvertedResidual : public Layer {
 public:
  explicit InvertedResidual(InvertedResidualOptions options)
      : Layer("InvertedResidual", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override {
    const bool adds = options_.stride == 1 && options_.input == options_.output;
    return adds ? x + conv_(x) : conv_(x);
  }

 private:
  Sequential layers() const {
    const std::int64_t hidden = options_.input * options_.expand;
    detail::NumberedLayers all;
    if (options_.expand != 1) {
      all.add(detail::conv_norm(
          {.filters = hidden, .kernel_size = 1, .activation = "relu6", .epsilon = options_.epsilon}, all.name()));
    }
    all.add(detail::conv_norm({.filters = hidden,
                               .strides = options_.stride,
                               .groups = hidden,
                               .activation = "relu6",
                               .epsilon = options_.epsilon,
                               .same_padding = options_.tf_padding},
                              all.name()));
    all.add(detail::convolution({.filters = options_.output, .kernel_size = 1}, false, all.name()));
    all.add(BatchNormalization({.momentum = 0.9, .epsilon = options_.epsilon, .name = all.name()}));
    return all.sequential();
  }

  InvertedResidualOptions options_;
  Sequential conv_ = sub("conv", layers());
};

/// Row of table 2 of the paper.
struct InvertedStage {
  std::int64_t expand = 1, channels = 0, blocks = 1, stride = 1;
};

constexpr InvertedStage inverted_stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/// Channels before the classifier. They don't shrink with width_mult.
std::int64_t last_channels(double width) { return detail::rounded_channels(1280 * std::max(1.0, width)); }

Sequential features(const MobileNetV2Options& options) {
  const double width = options.width_mult;
  std::int64_t input = detail::rounded_channels(32 * width);
  detail::NumberedLayers all;
  all.add(detail::conv_norm({.filters = input,
                             .strides = 2,
                             .activation = "relu6",
                             .epsilon = options.epsilon,
                             .same_padding = options.tf_padding},
                            all.name()));
  for (const InvertedStage& stage : inverted_stages) {
    const std::int64_t output = detail::rounded_channels(static_cast<double>(stage.channels) * width);
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      all.add(InvertedResidual({.input = input,
                                .output = output,
                                .stride = i == 0 ? stage.stride : 1,
                                .expand = stage.expand,
                                .epsilon = options.epsilon,
                                .tf_padding = options.tf_padding,
                                .name = all.name()}));
      input = output;
    }
  }
  all.add(detail::conv_norm(
      {.filters = last_channels(width), .kernel_size = 1, .activation = "relu6", .epsilon = options.epsilon},
      all.name()));
  return all.sequential();
}

MobileNetV2Options checked(const std::string& where, MobileNetV2Options options) {
  detail::require_positive(where, "classes", options.classes);
  detail::require_above(where, "width_mult", options.width_mult, 0);
  detail::check_features(where, {options.include_top, options.pooling, options.features_only});
  return options;
}

}  // namespace

MobileNetV2::MobileNetV2(MobileNetV2Options options)
    : Model("MobileNetV2", options), options_(checked(label(), std::move(options))) {
  const RandomNormal normal({.stddev = 0.01});
  if (!options_.include_top || options_.features_only) {
    set_weight_files({.skip = {"classifier.1.weight", "classifier.1.bias"}});
  }
  if (options_.features_only) {
    set_weight_files(
        {.skip = {"classifier.1.weight", "classifier.1.bias", "features.18.0.weight", "features.18.1.weight",
                  "features.18.1.bias", "features.18.1.running_mean", "features.18.1.running_var"}});
    maps_ = sub("features", detail::TappedLayers(features(options_).layers(), {1, 3, 6, 13, 17}));
    set_output_names({"features_1", "features_3", "features_6", "features_13", "features_17"});
    return;
  }
  features_ = sub("features", features(options_));
  if (!options_.include_top) return;
  classifier_ =
      sub("classifier", Sequential({Dropout({.rate = options_.dropout, .name = "0"}),
                                    Dense({.units = options_.classes, .kernel_initializer = normal, .name = "1"})}));
}

Value MobileNetV2::call(const Value& x) {
  const Value last = (*features_)(x);
  return classifier_ ? (*classifier_)(avgpool_(last)) : detail::pooled_features(last, options_.pooling);
}

Values MobileNetV2::call_many(const Values& xs) {
  return maps_ && xs.size() == 1 ? (*maps_)(xs) : Model::call_many(xs);
}

}  // namespace mezzo
