#include <mezzo/models/bert.hpp>

#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/encoder_keys.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

void describe_bert(ConfigFields& fields, BertOptions& options) {
  describe_text_encoder(fields, options);
  fields.fixed("embedding_size", Json());
  describe_common(fields);
  // The output layer of BertForMaskedLM; of the pooler of BERT's first release.
  fields.ignore({"tie_word_embeddings", "directionality", "pooler_fc_size", "pooler_num_attention_heads",
                 "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
}

void describe_encoder(ConfigFields& fields, BertOptions& options) {
  describe_bert(fields, options);
  fields.pooling_layer(options.add_pooling_layer);
}

void describe_classifier(ConfigFields& fields, BertForSequenceClassificationOptions& options) {
  describe_bert(fields, options.bert);
  fields.number_or_null("classifier_dropout", options.classifier_dropout);
  fields.labels(options.num_labels);
}

/// Names of layer normalizations in folders that were converted from TensorFlow.
const std::vector<std::pair<std::string, std::string>> old_names{{"LayerNorm\\.gamma$", "LayerNorm.weight"},
                                                                 {"LayerNorm\\.beta$", "LayerNorm.bias"}};

FolderNames classifier_names() {
  FolderNames names{.read = old_names, .written = {}, .heads = R"(^(bert\.pooler|classifier|cls|qa_outputs)\.)"};
  names.read.emplace_back("^(embeddings|encoder|pooler)\\.", "bert.$1.");
  return names;
}

}  // namespace

std::vector<PretrainedClass> bert_classes() {
  return {pretrained_class<Bert, BertOptions>(
              "Bert", {.architectures = {"BertModel"},
                       .model_types = {"bert"},
                       .defaults = {},
                       .describe = describe_encoder,
                       .names = {.read = old_names, .heads = R"(^(pooler|classifier|cls|qa_outputs)\.)"},
                       .has_word_pieces = true}),
          pretrained_class<BertForSequenceClassification, BertForSequenceClassificationOptions>(
              "BertForSequenceClassification", {.architectures = {"BertForSequenceClassification"},
                                                .model_types = {"bert"},
                                                .defaults = {},
                                                .describe = describe_classifier,
                                                .names = classifier_names(),
                                                .has_word_pieces = true})};
}

}  // namespace mezzo::detail
