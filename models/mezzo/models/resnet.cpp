#include <mezzo/models/resnet.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/models/conv_norm.hpp>
#include <mezzo/models/feature_maps.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

Conv2D convolution(std::int64_t filters, std::int64_t size, std::int64_t stride, const std::string& name = "") {
  return detail::convolution({.filters = filters, .kernel_size = size, .strides = stride}, false, name);
}

BatchNormalization normalization(bool zero = false, const std::string& name = "") {
  return BatchNormalization(
      {.momentum = 0.9, .epsilon = 1e-5, .gamma_initializer = zero ? "zeros" : "ones", .name = name});
}

/// Dense layer with torch's default initial values of Linear, for kernel and bias.
Dense linear(std::int64_t in, std::int64_t units) {
  const double limit = 1 / std::sqrt(static_cast<double>(in));
  const RandomUniform uniform({.minval = -limit, .maxval = limit});
  return Dense({.units = units, .kernel_initializer = uniform, .bias_initializer = uniform});
}

struct BlockOptions {
  std::int64_t filters = 0;         ///< channels of the first convolution
  std::int64_t stride = 1;          ///< stride of one 3x3 convolution
  bool downsample = false;          ///< true: the shortcut is a convolution, since stride or channels change
  bool zero_init_residual = false;  ///< true: the last gamma starts at 0
  std::string name{};               ///< name of the layer; "": automatic
  Policy dtype{};                   ///< precision policy; default: the policy of the enclosing layer or model
};

/// relu(convolutions(x) + shortcut(x)).
class ResidualBlock : public Layer {
 protected:
  ResidualBlock(const char* kind, BlockOptions options) : Layer(kind, options), options_(std::move(options)) {}

  void declare_downsample(std::int64_t channels) {
    if (!options_.downsample) return;
    downsample_ = sub("downsample", Sequential({convolution(channels, 1, options_.stride, "0"),  //
                                                normalization(false, "1")}));
  }

  Value shortcut(const Value& x) { return downsample_ ? (*downsample_)(x) : x; }

  BlockOptions options_;

 private:
  std::optional<Sequential> downsample_;
};

class BasicBlock : public ResidualBlock {
 public:
  static constexpr std::int64_t expansion = 1;

  explicit BasicBlock(BlockOptions options) : ResidualBlock("BasicBlock", std::move(options)) {
    declare_downsample(options_.filters);
  }

 protected:
  Value call(const Value& x) override { return relu_(bn2_(conv2_(relu_(bn1_(conv1_(x))))) + shortcut(x)); }

 private:
  Conv2D conv1_ = sub("conv1", convolution(options_.filters, 3, options_.stride));
  BatchNormalization bn1_ = sub("bn1", normalization());
  ReLU relu_ = sub("relu", ReLU());
  Conv2D conv2_ = sub("conv2", convolution(options_.filters, 3, 1));
  BatchNormalization bn2_ = sub("bn2", normalization(options_.zero_init_residual));
};

class Bottleneck : public ResidualBlock {
 public:
  static constexpr std::int64_t expansion = 4;

  explicit Bottleneck(BlockOptions options) : ResidualBlock("Bottleneck", std::move(options)) {
    declare_downsample(channels_);
  }

 protected:
  Value call(const Value& x) override {
    const Value narrow = relu_(bn1_(conv1_(x)));
    return relu_(bn3_(conv3_(relu_(bn2_(conv2_(narrow))))) + shortcut(x));
  }

 private:
  std::int64_t channels_ = expansion * options_.filters;
  Conv2D conv1_ = sub("conv1", convolution(options_.filters, 1, 1));
  BatchNormalization bn1_ = sub("bn1", normalization());
  ReLU relu_ = sub("relu", ReLU());
  Conv2D conv2_ = sub("conv2", convolution(options_.filters, 3, options_.stride));
  BatchNormalization bn2_ = sub("bn2", normalization());
  Conv2D conv3_ = sub("conv3", convolution(channels_, 1, 1));
  BatchNormalization bn3_ = sub("bn3", normalization(options_.zero_init_residual));
};

std::int64_t expansion_of(ResNet::Block block) {
  return block == ResNet::Block::basic ? BasicBlock::expansion : Bottleneck::expansion;
}

ResNetOptions checked(const std::string& where, ResNetOptions options) {
  detail::require_positive(where, "classes", options.classes);
  detail::require_positive(where, "stem", options.stem);
  detail::check_features(where, {options.include_top, options.pooling, options.features_only});
  for (const std::int64_t filters : options.filters) detail::require_positive(where, "filters", filters);
  return options;
}

}  // namespace

ResNet::ResNet(Block block, const std::array<std::int64_t, 4>& layers, ResNetOptions options)
    : Model("ResNet", options),
      block_(block),
      layers_(layers),
      options_(checked(label(), std::move(options))),
      conv1_(sub("conv1", convolution(options_.stem, 7, 2))),
      bn1_(sub("bn1", normalization())),
      maxpool_(sub("maxpool", MaxPooling2D({.pool_size = 3, .strides = 2, .padding = 1}))) {
  if (options_.include_top && !options_.features_only) {
    fc_ = output_layer();
    return;
  }
  set_weight_files({.skip = {"fc.weight", "fc.bias"}});
  if (options_.features_only) set_output_names({"relu", "layer1", "layer2", "layer3", "layer4"});
}

Dense ResNet::output_layer() {
  return sub("fc", linear(options_.filters.back() * expansion_of(block_), options_.classes));
}

Sequential ResNet::stage(std::size_t index) const {
  detail::require_positive(label(), "layers", layers_[index]);
  const std::int64_t input = index == 0 ? options_.stem : options_.filters[index - 1] * expansion_of(block_);
  const std::int64_t filters = options_.filters[index];
  std::vector<Any<Layer>> blocks;
  for (std::int64_t i = 0; i < layers_[index]; ++i) {
    const bool first = i == 0;
    const BlockOptions options{.filters = filters,
                               .stride = first && index > 0 ? 2 : 1,
                               .downsample = first && (index > 0 || input != filters * expansion_of(block_)),
                               .zero_init_residual = options_.zero_init_residual,
                               .name = fmt::format("{}", i)};
    if (block_ == Block::basic) {
      blocks.emplace_back(BasicBlock(options));
    } else {
      blocks.emplace_back(Bottleneck(options));
    }
  }
  return Sequential(std::move(blocks));
}

Values ResNet::maps(const Value& x) {
  Values out{relu_(bn1_(conv1_(x)))};
  out.push_back(layer1_(maxpool_(out.back())));
  for (Sequential* const stage : {&layer2_, &layer3_, &layer4_}) out.push_back((*stage)(out.back()));
  return out;
}

Value ResNet::call(const Value& x) {
  const Value last = maps(x).back();
  return fc_ ? (*fc_)(avgpool_(last)) : detail::pooled_features(last, options_.pooling);
}

Values ResNet::call_many(const Values& xs) {
  return options_.features_only && xs.size() == 1 ? maps(xs.front()) : Model::call_many(xs);
}

ResNet resnet18(const ResNetOptions& options) { return {ResNet::Block::basic, {2, 2, 2, 2}, options}; }
ResNet resnet34(const ResNetOptions& options) { return {ResNet::Block::basic, {3, 4, 6, 3}, options}; }
ResNet resnet50(const ResNetOptions& options) { return {ResNet::Block::bottleneck, {3, 4, 6, 3}, options}; }

}  // namespace mezzo
