#include <mezzo/models/vit_model.hpp>

#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/encoder_keys.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

void describe_vit(ConfigFields& fields, ViTModelOptions& options) {
  describe_encoder_layers(fields, options);
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
