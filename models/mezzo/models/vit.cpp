#include <mezzo/models/vit.hpp>

#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/variance_scaling.hpp>
#include <mezzo/models/feature_maps.hpp>
#include <mezzo/models/transformer.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

LayerNormalization norm() { return LayerNormalization({.epsilon = 1e-6}); }

/// Dense layer of an MLP.
Dense linear(std::int64_t units, const ActivationFunction& activation = {}) {
  return Dense({.units = units, .activation = activation, .bias_initializer = RandomNormal({.stddev = 1e-6})});
}

detail::SelfAttention attention(const ViTOptions& options) {
  const double limit = 1 / std::sqrt(static_cast<double>(options.hidden_dim));  // torch's default for Linear
  return detail::SelfAttention(
      {.num_heads = options.num_heads,
       .input = Dense({.units = 3 * options.hidden_dim}),
       .output = Dense(
           {.units = options.hidden_dim, .kernel_initializer = RandomUniform({.minval = -limit, .maxval = limit})}),
       .input_name = "in_proj",
       .output_name = "out_proj",
       .dropout = options.attention_dropout});
}

struct ViTBlockOptions {
  ViTOptions vit{};    ///< options of the whole model
  std::string name{};  ///< name of the layer; "": automatic
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// x + attention(norm(x)), then x + mlp(norm(x)): (batch, positions, hidden_dim) to the same shape.
class ViTBlock : public Layer {
 public:
  explicit ViTBlock(ViTBlockOptions options) : Layer("ViTBlock", options), options_(std::move(options.vit)) {
    set_weight_files({.rename = {{"^self_attention\\.in_proj\\.", "self_attention.in_proj_"},
                                 {"^linear_1\\.", "mlp.0."},
                                 {"^linear_2\\.", "mlp.3."}}});
  }

 protected:
  Value call(const Value& x) override {
    const Value attended = dropout_(self_attention_(Values{ln_1_(x)}).front()) + x;
    return attended + dropout_(linear_2_(dropout_(linear_1_(ln_2_(attended)))));
  }

 private:
  ViTOptions options_;
  LayerNormalization ln_1_ = sub("ln_1", norm());
  detail::SelfAttention self_attention_ = sub("self_attention", attention(options_));
  LayerNormalization ln_2_ = sub("ln_2", norm());
  Dense linear_1_ = sub("linear_1", linear(options_.mlp_dim, "gelu"));
  Dense linear_2_ = sub("linear_2", linear(options_.hidden_dim));
  Dropout dropout_ = sub("dropout", Dropout({.rate = options_.dropout}));
};

ViTOptions checked(const std::string& where, ViTOptions options) {
  detail::require_positive(where, "image_size", options.image_size);
  detail::require_positive(where, "patch_size", options.patch_size);
  detail::require_positive(where, "num_layers", options.num_layers);
  detail::require_positive(where, "num_heads", options.num_heads);
  detail::require_positive(where, "hidden_dim", options.hidden_dim);
  detail::require_positive(where, "mlp_dim", options.mlp_dim);
  detail::require_positive(where, "classes", options.classes);
  detail::require_divides(where, "patch_size", options.patch_size, "image_size", options.image_size);
  detail::require_divides(where, "num_heads", options.num_heads, "hidden_dim", options.hidden_dim);
  detail::check_pooling(where, options.include_top, options.pooling, {"token", "avg"});
  return options;
}

Conv2D patches(const ViTOptions& options) {
  return Conv2D({.filters = options.hidden_dim,
                 .kernel_size = options.patch_size,
                 .strides = options.patch_size,
                 .kernel_initializer = VarianceScaling({.distribution = "untruncated_normal"})});
}

ViT sized(ViTOptions options, std::int64_t patch, std::int64_t layers, std::int64_t size, std::int64_t heads) {
  options.patch_size = patch;
  options.num_layers = layers;
  options.num_heads = heads;
  options.hidden_dim = size;
  options.mlp_dim = 4 * size;
  return ViT(std::move(options));
}

}  // namespace

ViT vit_b_16(ViTOptions rest) { return sized(std::move(rest), 16, 12, 768, 12); }
ViT vit_b_32(ViTOptions rest) { return sized(std::move(rest), 32, 12, 768, 12); }
ViT vit_l_16(ViTOptions rest) { return sized(std::move(rest), 16, 24, 1024, 16); }
ViT vit_l_32(ViTOptions rest) { return sized(std::move(rest), 32, 24, 1024, 16); }
ViT vit_h_14(ViTOptions rest) { return sized(std::move(rest), 14, 32, 1280, 16); }

ViT::ViT(ViTOptions options)
    : Model("ViT", options),
      options_(checked(label(), std::move(options))),
      conv_proj_(sub("conv_proj", patches(options_))),
      dropout_(sub("dropout", Dropout({.rate = options_.dropout}))),
      layers_(encoder_layers()),
      ln_(sub("ln", norm())) {
  detail::WeightFileRules files{.rename = {{"^(pos_embedding$|ln\\.)", "encoder.$1"},
                                           {"^layer([0-9]+)\\.", "encoder.layers.encoder_layer_$1."},
                                           {"^head\\.", "heads.head."}}};
  if (options_.include_top) {
    head_ = sub("head", Dense({.units = options_.classes, .kernel_initializer = "zeros"}));
  } else {
    files.skip = {"heads.head.weight", "heads.head.bias"};
  }
  set_weight_files(files);
}

std::vector<Any<Layer>> ViT::encoder_layers() {
  std::vector<Any<Layer>> layers;
  for (std::int64_t i = 0; i < options_.num_layers; ++i) {
    layers.emplace_back(sub(fmt::format("layer{}", i), ViTBlock({.vit = options_})));
  }
  return layers;
}

void ViT::build(const Shape& input) {
  const std::int64_t across = options_.image_size / options_.patch_size, size = options_.hidden_dim;
  add_weight(class_token_, {.shape = {1, 1, size}, .initializer = "zeros"});
  add_weight(pos_embedding_, {.shape = {1, across * across + 1, size}, .initializer = RandomNormal({.stddev = 0.02})});
  Model::build(input);
}

Value ViT::call(const Value& x) {
  const Shape& images = x.shape();
  detail::require_rank(label(), images, 4, "(batch, height, width, channels)");
  if (images[1] != options_.image_size || images[2] != options_.image_size) {
    fail<ShapeError>(label(), "images must be {} x {}; got shape {}", options_.image_size, options_.image_size, images);
  }
  const Value maps = conv_proj_(x);
  const Size batch = maps.shape()[0], size = maps.shape()[3];
  const std::int64_t count = maps.shape()[1] * maps.shape()[2];
  // The class token is added, not concatenated: the batch may be unknown, so the token can't be repeated for it.
  const Value token = pad(class_token_, {.before = {0, 0, 0}, .after = {0, count, 0}});
  const Value embedded = pad(reshape(maps, {batch, count, size}), {.before = {0, 1, 0}, .after = {0, 0, 0}});
  Value y = dropout_(embedded + (token + pos_embedding_));
  for (Any<Layer>& layer : layers_) y = (*layer)(y);
  y = ln_(y);
  if (head_) return (*head_)(detail::at_position(y, 0));
  if (options_.pooling == "token") return detail::at_position(y, 0);
  return options_.pooling == "avg" ? mean(y(all, slice(1, std::nullopt)), {.axes = {1}}) : y;
}

}  // namespace mezzo
