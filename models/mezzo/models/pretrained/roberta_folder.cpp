#include <mezzo/models/roberta.hpp>

#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/encoder_keys.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

/// Defaults of transformers' RobertaConfig, which are not those of roberta-base.
RobertaOptions roberta_defaults() {
  RobertaOptions options;
  options.max_position_embeddings = 512;
  options.type_vocab_size = 2;
  options.layer_norm_eps = 1e-12;
  return options;
}

void describe_roberta(ConfigFields& fields, RobertaOptions& options) {
  describe_text_encoder(fields, options);
  fields.token("pad_token_id", options.pad_token_id);
  describe_common(fields);
  fields.ignore({"tie_word_embeddings"});  // of the output layer of RobertaForMaskedLM
}

void describe_roberta_encoder(ConfigFields& fields, RobertaOptions& options) {
  describe_roberta(fields, options);
  fields.pooling_layer(options.add_pooling_layer);
}

void describe_roberta_classifier(ConfigFields& fields, RobertaForSequenceClassificationOptions& options) {
  describe_roberta(fields, options.roberta);
  fields.number_or_null("classifier_dropout", options.classifier_dropout);
  fields.labels(options.num_labels);
}

}  // namespace

std::vector<PretrainedClass> roberta_classes() {
  // transformers has the same model under these names.
  const std::vector<std::string> model_types{"roberta", "xlm-roberta", "camembert"};
  RobertaForSequenceClassificationOptions classifier;
  classifier.roberta = roberta_defaults();
  return {pretrained_class<Roberta, RobertaOptions>(
              "Roberta", {.architectures = {"RobertaModel"},
                          .model_types = model_types,
                          .defaults = roberta_defaults(),
                          .describe = describe_roberta_encoder,
                          .names = {.heads = R"(^(pooler|classifier|lm_head|qa_outputs)\.)"}}),
          pretrained_class<RobertaForSequenceClassification, RobertaForSequenceClassificationOptions>(
              "RobertaForSequenceClassification",
              {.architectures = {"RobertaForSequenceClassification", "XLMRobertaForSequenceClassification",
                                 "CamembertForSequenceClassification"},
               .model_types = model_types,
               .defaults = classifier,
               .describe = describe_roberta_classifier,
               .names = {.read = {{"^(embeddings|encoder)\\.", "roberta.$1."}},
                         .heads = R"(^(classifier|lm_head|qa_outputs|pooler|roberta\.pooler)\.)"}})};
}

}  // namespace mezzo::detail
