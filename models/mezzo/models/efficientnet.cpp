#include <mezzo/models/efficientnet.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/models/conv_norm.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

struct SqueezeExcitationOptions {
  std::int64_t channels = 0;  ///< channels of the input
  std::int64_t squeeze = 0;   ///< channels between the two convolutions
  std::string name{};         ///< name of the layer; "": automatic
  Policy dtype{};             ///< precision policy; default: the policy of the enclosing layer or model
};

/// Scales each channel by a function of all channels' means (Hu et al., 2018, arXiv 1709.01507).
class SqueezeExcitation : public Layer {
 public:
  explicit SqueezeExcitation(SqueezeExcitationOptions options)
      : Layer("SqueezeExcitation", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override {
    return x * sigmoid(fc2_(silu(fc1_(mean(x, {.axes = {1, 2}, .keepdims = true})))));
  }

 private:
  SqueezeExcitationOptions options_;
  Conv2D fc1_ = sub("fc1", detail::convolution({.filters = options_.squeeze, .kernel_size = 1}, true));
  Conv2D fc2_ = sub("fc2", detail::convolution({.filters = options_.channels, .kernel_size = 1}, true));
};

struct MBConvOptions {
  std::int64_t input = 0;     ///< channels of the input
  std::int64_t output = 0;    ///< channels of the output
  std::int64_t kernel = 3;    ///< size of the depthwise kernel
  std::int64_t stride = 1;    ///< of the depthwise convolution
  std::int64_t expand = 1;    ///< factor from `input` to the channels of the depthwise convolution
  double left_out = 0;        ///< rate at which a sample skips the block
  EfficientNetOptions net{};  ///< options of the whole model
  std::string name{};         ///< name of the layer; "": automatic
  Policy dtype{};             ///< precision policy; default: the policy of the enclosing layer or model
};

/// MobileNetV2's inverted residual with a SqueezeExcitation and stochastic depth.
class MBConv : public Layer {
 public:
  explicit MBConv(MBConvOptions options) : Layer("MBConv", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override {
    const Value y = block_(x);
    if (options_.stride != 1 || options_.input != options_.output) return y;
    if (options_.left_out == 0) return x + y;
    const Value ones = ones_like(slice(x, {.starts = {0, 0, 0, 0}, .sizes = {-1, 1, 1, 1}}));
    return x + y * dropout(ones, options_.left_out);
  }

 private:
  detail::ConvNormOptions part(std::int64_t filters, std::int64_t size, const ActivationFunction& activation) const {
    return {.filters = filters,
            .kernel_size = size,
            .activation = activation,
            .epsilon = options_.net.norm_epsilon,
            .momentum = options_.net.norm_momentum};
  }

  Sequential layers() const {
    const std::int64_t hidden = detail::rounded_channels(static_cast<double>(options_.input * options_.expand));
    detail::NumberedLayers all;
    if (hidden != options_.input) all.add(detail::conv_norm(part(hidden, 1, "silu"), all.name()));
    detail::ConvNormOptions depthwise = part(hidden, options_.kernel, "silu");
    depthwise.strides = options_.stride;
    depthwise.groups = hidden;
    all.add(detail::conv_norm(depthwise, all.name()));
    all.add(SqueezeExcitation(
        {.channels = hidden, .squeeze = std::max<std::int64_t>(1, options_.input / 4), .name = all.name()}));
    all.add(detail::conv_norm(part(options_.output, 1, ActivationFunction()), all.name()));
    return all.sequential();
  }

  MBConvOptions options_;
  Sequential block_ = sub("block", layers());
};

/// Row of table 1 of the paper.
struct Stage {
  std::int64_t expand = 1, kernel = 3, stride = 1, channels = 0, blocks = 1;
};

constexpr Stage stages[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                            {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};

/// The network's sizes.
class Sizes {
 public:
  explicit Sizes(const EfficientNetOptions& net) : net_(net) {}

  std::int64_t channels(std::int64_t of_b0) const {
    return detail::rounded_channels(static_cast<double>(of_b0) * net_.width_mult);
  }
  std::int64_t blocks(std::int64_t of_b0) const {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(of_b0) * net_.depth_mult));
  }
  std::int64_t all_blocks() const {
    std::int64_t count = 0;
    for (const Stage& stage : stages) count += blocks(stage.blocks);
    return count;
  }

 private:
  const EfficientNetOptions& net_;
};

Sequential features(const EfficientNetOptions& net) {
  const Sizes sizes(net);
  detail::ConvNormOptions stem{.filters = sizes.channels(32),
                               .strides = 2,
                               .activation = "silu",
                               .epsilon = net.norm_epsilon,
                               .momentum = net.norm_momentum};
  detail::NumberedLayers all;
  all.add(detail::conv_norm(stem, all.name()));
  std::int64_t input = stem.filters, place = 0;
  for (const Stage& stage : stages) {
    detail::NumberedLayers blocks;
    for (std::int64_t i = 0; i < sizes.blocks(stage.blocks); ++i) {
      const std::int64_t output = sizes.channels(stage.channels);
      const double share = static_cast<double>(place++) / static_cast<double>(sizes.all_blocks());
      blocks.add(MBConv({.input = input,
                         .output = output,
                         .kernel = stage.kernel,
                         .stride = i == 0 ? stage.stride : 1,
                         .expand = stage.expand,
                         .left_out = net.stochastic_depth_prob * share,
                         .net = net,
                         .name = blocks.name()}));
      input = output;
    }
    all.add(blocks.sequential(all.name()));
  }
  stem.filters = 4 * input;
  stem.kernel_size = 1;
  stem.strides = 1;
  all.add(detail::conv_norm(stem, all.name()));
  return all.sequential();
}

EfficientNetOptions checked(const std::string& where, EfficientNetOptions options) {
  detail::require_positive(where, "classes", options.classes);
  detail::require_above(where, "width_mult", options.width_mult, 0);
  detail::require_above(where, "depth_mult", options.depth_mult, 0);
  detail::check_features(where, {options.include_top, options.pooling, options.features_only});
  const double rate = options.stochastic_depth_prob;
  if (!(rate >= 0 && rate < 1)) {
    fail<ValueError>(where, "stochastic_depth_prob must be in [0, 1); got {}", rate);
  }
  return options;
}

Dense output_layer(std::int64_t classes) {
  const double limit = 1 / std::sqrt(static_cast<double>(classes));
  return Dense(
      {.units = classes, .kernel_initializer = RandomUniform({.minval = -limit, .maxval = limit}), .name = "1"});
}

EfficientNet scaled(const char* where, EfficientNetOptions rest, double width, double depth, double dropout) {
  if (rest.width_mult != 1 || rest.depth_mult != 1) {
    fail<ValueError>(fmt::format("[{}]", where),
                     "width_mult and depth_mult must not be given, use EfficientNet for others than {} and {}; got {} "
                     "and {}",
                     width, depth, rest.width_mult, rest.depth_mult);
  }
  rest.width_mult = width;
  rest.depth_mult = depth;
  if (!rest.dropout) rest.dropout = dropout;
  return EfficientNet(std::move(rest));
}

}  // namespace

EfficientNet::EfficientNet(EfficientNetOptions options) : Model("EfficientNet", options) {
  const EfficientNetOptions net = checked(label(), std::move(options));
  pooling_ = net.pooling;
  std::vector<std::string> skipped{"classifier.1.weight", "classifier.1.bias"};
  if (net.features_only) {
    for (const char* name : {"0.weight", "1.weight", "1.bias", "1.running_mean", "1.running_var"}) {
      skipped.push_back(fmt::format("features.8.{}", name));
    }
    maps_ = sub("features", detail::TappedLayers(features(net).layers(), {1, 2, 3, 5, 7}));
    set_output_names({"features_1", "features_2", "features_3", "features_5", "features_7"});
  } else {
    features_ = sub("features", features(net));
  }
  if (!net.include_top || net.features_only) {
    set_weight_files({.skip = skipped});
    return;
  }
  classifier_ = sub("classifier",
                    Sequential({Dropout({.rate = net.dropout.value_or(0.2), .name = "0"}), output_layer(net.classes)}));
}

Value EfficientNet::call(const Value& x) {
  const Value last = (*features_)(x);
  return classifier_ ? (*classifier_)(avgpool_(last)) : detail::pooled_features(last, pooling_);
}

Values EfficientNet::call_many(const Values& xs) {
  return maps_ && xs.size() == 1 ? (*maps_)(xs) : Model::call_many(xs);
}

EfficientNet efficientnet_b0(EfficientNetOptions rest) {
  return scaled("efficientnet_b0", std::move(rest), 1.0, 1.0, 0.2);
}

EfficientNet efficientnet_b1(EfficientNetOptions rest) {
  return scaled("efficientnet_b1", std::move(rest), 1.0, 1.1, 0.2);
}

EfficientNet efficientnet_b2(EfficientNetOptions rest) {
  return scaled("efficientnet_b2", std::move(rest), 1.1, 1.2, 0.3);
}

EfficientNet efficientnet_b3(EfficientNetOptions rest) {
  return scaled("efficientnet_b3", std::move(rest), 1.2, 1.4, 0.3);
}

EfficientNet efficientnet_b4(EfficientNetOptions rest) {
  return scaled("efficientnet_b4", std::move(rest), 1.4, 1.8, 0.4);
}

}  // namespace mezzo
