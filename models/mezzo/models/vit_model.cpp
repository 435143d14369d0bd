#include <mezzo/models/vit_model.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/models/activation_names.hpp>
#include <mezzo/models/transformer.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

namespace mezzo {
namespace {

struct ViTLayerOptions {
  ViTModelOptions vit{};  ///< options of the whole model
  std::string name{};     ///< name of the layer; "": automatic
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
};

Dense projection(const ViTModelOptions& options, std::int64_t units, bool use_bias = true,
                 const ActivationFunction& activation = {}) {
  return Dense({.units = units,
                .activation = activation,
                .use_bias = use_bias,
                .kernel_initializer = RandomNormal({.stddev = options.initializer_range})});
}

LayerNormalization normalization_of(const ViTModelOptions& options) {
  return LayerNormalization({.epsilon = options.layer_norm_eps});
}

/// Self-attention with a bias of the output and, as an option, of queries, keys and values.
class ViTAttention : public Layer {
 public:
  explicit ViTAttention(ViTLayerOptions options) : Layer("ViTAttention", options), options_(std::move(options.vit)) {
    detail::set_weight_facts(*state(), {.numbers = {{"num_heads", options_.num_attention_heads}}});
  }

 protected:
  Value call(const Value& x) override {
    const Size batch = x.shape()[0], positions = x.shape()[1];
    const std::int64_t heads = options_.num_attention_heads, size = options_.hidden_size;
    const auto in_heads = [&](Dense& layer) { return reshape(layer(x), {batch, positions, heads, size / heads}); };
    const Value attended = dot_product_attention(in_heads(query_), in_heads(key_), in_heads(value_),
                                                 {.dropout = options_.attention_probs_dropout_prob});
    return output_(reshape(attended, {batch, positions, size}));
  }

 private:
  ViTModelOptions options_;
  Dense query_ = sub("query", projection(options_, options_.hidden_size, options_.qkv_bias));
  Dense key_ = sub("key", projection(options_, options_.hidden_size, options_.qkv_bias));
  Dense value_ = sub("value", projection(options_, options_.hidden_size, options_.qkv_bias));
  Dense output_ = sub("output", projection(options_, options_.hidden_size));
};

/// x + attention(norm(x)), then x + mlp(norm(x)): (batch, positions, hidden_size) to the same shape.
class ViTLayer : public Layer {
 public:
  explicit ViTLayer(ViTLayerOptions options) : Layer("ViTLayer", options), options_(std::move(options.vit)) {
    set_weight_files({.rename = {{"^attention\\.(query|key|value)\\.", "attention.attention.$1."},
                                 {"^attention\\.output\\.", "attention.output.dense."},
                                 {"^intermediate\\.", "intermediate.dense."},
                                 {"^output\\.", "output.dense."}}});
  }

 protected:
  Value call(const Value& x) override {
    const Value attended = dropout_(attention_(layernorm_before_(x))) + x;
    return attended + dropout_(output_(intermediate_(layernorm_after_(attended))));
  }

 private:
  Dense intermediate() const {
    return projection(options_, options_.intermediate_size, true,
                      detail::activation_of_name(label(), "hidden_act", options_.hidden_act));
  }

  ViTModelOptions options_;
  LayerNormalization layernorm_before_ = sub("layernorm_before", normalization_of(options_));
  ViTAttention attention_ = sub("attention", ViTAttention({.vit = options_}));
  LayerNormalization layernorm_after_ = sub("layernorm_after", normalization_of(options_));
  Dense intermediate_ = sub("intermediate", intermediate());
  Dense output_ = sub("output", projection(options_, options_.hidden_size));
  Dropout dropout_ = sub("dropout", Dropout({.rate = options_.hidden_dropout_prob}));
};

ViTModelOptions checked(const std::string& where, ViTModelOptions options) {
  detail::require_positive(where, "hidden_size", options.hidden_size);
  detail::require_positive(where, "num_hidden_layers", options.num_hidden_layers);
  detail::require_positive(where, "num_attention_heads", options.num_attention_heads);
  detail::require_positive(where, "intermediate_size", options.intermediate_size);
  detail::require_positive(where, "image_size", options.image_size);
  detail::require_positive(where, "patch_size", options.patch_size);
  detail::require_positive(where, "num_channels", options.num_channels);
  detail::require_divides(where, "patch_size", options.patch_size, "image_size", options.image_size);
  detail::require_divides(where, "num_attention_heads", options.num_attention_heads, "hidden_size",
                          options.hidden_size);
  if (options.pooler_output_size == 0) options.pooler_output_size = options.hidden_size;
  detail::require_positive(where, "pooler_output_size", options.pooler_output_size);
  detail::activation_of_name(where, "hidden_act", options.hidden_act);
  detail::activation_of_name(where, "pooler_act", options.pooler_act);
  return options;
}

ViTForImageClassificationOptions checked(const std::string& where, ViTForImageClassificationOptions options) {
  detail::require_positive(where, "num_labels", options.num_labels);
  options.vit.add_pooling_layer = false;
  return options;
}

Conv2D patch_convolution(const ViTModelOptions& options) {
  return Conv2D({.filters = options.hidden_size,
                 .kernel_size = options.patch_size,
                 .strides = options.patch_size,
                 .kernel_initializer = RandomNormal({.stddev = options.initializer_range})});
}

}  // namespace

ViTModel::ViTModel(ViTModelOptions options)
    : Model("ViTModel", options),
      options_(checked(label(), std::move(options))),
      patch_embeddings_(sub("patch_embeddings", patch_convolution(options_))),
      dropout_(sub("dropout", Dropout({.rate = options_.hidden_dropout_prob}))),
      layers_(encoder_layers()),
      layernorm_(sub("layernorm", normalization_of(options_))) {
  std::vector<std::string> skip{"embeddings.mask_token"};
  if (options_.add_pooling_layer) {
    const ActivationFunction activation = detail::activation_of_name(label(), "pooler_act", options_.pooler_act);
    pooler_.push_back(sub("pooler", projection(options_, options_.pooler_output_size, true, activation)));
  } else {
    skip.insert(skip.end(), {"pooler.dense.weight", "pooler.dense.bias"});
  }
  set_weight_files({.rename = {{"^(cls_token|position_embeddings)$", "embeddings.$1"},
                               {"^patch_embeddings\\.", "embeddings.patch_embeddings.projection."},
                               {"^layer([0-9]+)\\.", "encoder.layer.$1."},
                               {"^pooler\\.", "pooler.dense."}},
                    .skip = skip,
                    .optional_prefix = "vit."});
}

std::vector<Any<Layer>> ViTModel::encoder_layers() {
  std::vector<Any<Layer>> layers;
  for (std::int64_t i = 0; i < options_.num_hidden_layers; ++i) {
    layers.emplace_back(sub(fmt::format("layer{}", i), ViTLayer({.vit = options_})));
  }
  return layers;
}

void ViTModel::build(const Shape& input) {
  const std::int64_t across = options_.image_size / options_.patch_size, size = options_.hidden_size;
  const RandomNormal normal({.stddev = options_.initializer_range});
  add_weight(cls_token_, {.shape = {1, 1, size}, .initializer = normal});
  add_weight(position_embeddings_, {.shape = {1, across * across + 1, size}, .initializer = normal});
  Model::build(input);
}

Values ViTModel::call_many(const Values& xs) {
  if (xs.size() != 1) fail<ValueError>(label(), "takes 1 input (images); got {}", xs.size());
  const Shape& images = xs[0].shape();
  detail::require_rank(label(), images, 4, "(batch, height, width, channels)");
  if (images[1] != options_.image_size || images[2] != options_.image_size || images[3] != options_.num_channels) {
    fail<ShapeError>(label(), "images must be {} x {} x {}; got shape {}", options_.image_size, options_.image_size,
                     options_.num_channels, images);
  }
  const Value maps = patch_embeddings_(xs[0]);
  const Size batch = maps.shape()[0], size = maps.shape()[3];
  const std::int64_t count = maps.shape()[1] * maps.shape()[2];
  // The class token is added, not concatenated: the batch may be unknown, so the token can't be repeated for it.
  const Value token = pad(cls_token_, {.before = {0, 0, 0}, .after = {0, count, 0}});
  const Value patches = pad(reshape(maps, {batch, count, size}), {.before = {0, 1, 0}, .after = {0, 0, 0}});
  Value x = dropout_(patches + (token + position_embeddings_));
  for (Any<Layer>& layer : layers_) x = (*layer)(x);
  x = layernorm_(x);
  return pooler_.empty() ? Values{x} : Values{x, pooler_[0](detail::at_position(x, 0))};
}

ViTForImageClassification::ViTForImageClassification(ViTForImageClassificationOptions options)
    : Model("ViTForImageClassification", options),
      options_(checked(label(), std::move(options))),
      vit_(sub("vit", ViTModel(options_.vit))),
      classifier_(sub("classifier", projection(options_.vit, options_.num_labels))) {}

Value ViTForImageClassification::call(const Value& x) {
  return classifier_(detail::at_position(vit_(Values{x}).front(), 0));
}

}  // namespace mezzo
