#include <mezzo/models/vit_model.hpp>

#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

void describe_vit(ConfigFields& fields, ViTModelOptions& options) {
  fields.size("hidden_size", options.hidden_size);
  fields.layers("num_hidden_layers", options.num_hidden_layers);
  fields.size("num_attention_heads", options.num_attention_heads);
  fields.size("intermediate_size", options.intermediate_size);
  fields.activation("hidden_act", options.hidden_act);
  fields.number("hidden_dropout_prob", options.hidden_dropout_prob);
  fields.number("attention_probs_dropout_prob", options.attention_probs_dropout_prob);
  fields.number("initializer_range", options.initializer_range);
  fields.number("layer_norm_eps", options.layer_norm_eps);
  fields.size("image_size", options.image_size);
  fields.size("patch_size", options.patch_size);
  fields.size("num_channels", options.num_channels);
  fields.flag("qkv_bias", options.qkv_bias);
  fields.size_or_null("pooler_output_size", options.pooler_output_size);
  fields.activation("pooler_act", options.pooler_act);
  describe_common(fields);
  fields.ignore({"encoder_stride"});  // of ViTForMaskedImageModeling
}

void describe_vit_encoder(ConfigFields& fields, ViTModelOptions& options) {
  describe_vit(fields, options);
  fields.pooling_layer(options.add_pooling_layer);
}

void describe_vit_classifier(ConfigFields& fields, ViTForImageClassificationOptions& options) {
  describe_vit(fields, options.vit);
  fields.labels(options.num_labels);
}

Shape images_of(const ViTModelOptions& options) {
  return {1, options.image_size, options.image_size, options.num_channels};
}

Shape images_of_classifier(const ViTForImageClassificationOptions& options) { return images_of(options.vit); }

}  // namespace

std::vector<PretrainedClass> vit_classes() {
  return {
      pretrained_class<ViTModel, ViTModelOptions>("ViTModel", {.architectures = {"ViTModel"},
                                                               .model_types = {"vit"},
                                                               .defaults = {},
                                                               .describe = describe_vit_encoder,
                                                               .input = images_of,
                                                               .names = {.heads = R"(^(pooler|classifier)\.)"}}),
      pretrained_class<ViTForImageClassification, ViTForImageClassificationOptions>(
          "ViTForImageClassification", {.architectures = {"ViTForImageClassification"},
                                        .model_types = {"vit"},
                                        .defaults = {},
                                        .describe = describe_vit_classifier,
                                        .input = images_of_classifier,
                                        .names = {.read = {{"^(embeddings|encoder|layernorm|pooler)\\.", "vit.$1."}},
                                                  .heads = R"(^(vit\.pooler|classifier)\.)"}})};
}

}  // namespace mezzo::detail
