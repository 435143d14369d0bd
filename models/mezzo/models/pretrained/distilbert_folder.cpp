#include <mezzo/models/distilbert.hpp>

#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

void describe_distilbert(ConfigFields& fields, DistilBertOptions& options) {
  fields.size("vocab_size", options.vocab_size);
  fields.size("max_position_embeddings", options.max_position_embeddings);
  fields.layers("n_layers", options.n_layers);
  fields.size("n_heads", options.n_heads);
  fields.size("dim", options.dim);
  fields.size("hidden_dim", options.hidden_dim);
  fields.activation("activation", options.activation);
  fields.number("dropout", options.dropout);
  fields.number("attention_dropout", options.attention_dropout);
  fields.number("initializer_range", options.initializer_range);
  describe_common(fields);
  // Other heads, and the initial values of positions.
  fields.ignore({"tie_word_embeddings", "tie_weights_", "qa_dropout", "seq_classif_dropout", "sinusoidal_pos_embds"});
}

void describe_distilbert_classifier(ConfigFields& fields, DistilBertForSequenceClassificationOptions& options) {
  describe_distilbert(fields, options.distilbert);
  fields.number("seq_classif_dropout", options.seq_classif_dropout);
  fields.labels(options.num_labels);
}

constexpr const char* distilbert_heads = R"(^(pre_classifier|classifier|vocab_\w+|qa_outputs)\.)";

}  // namespace

std::vector<PretrainedClass> distilbert_classes() {
  return {pretrained_class<DistilBert, DistilBertOptions>("DistilBert", {.architectures = {"DistilBertModel"},
                                                                         .model_types = {"distilbert"},
                                                                         .defaults = {},
                                                                         .describe = describe_distilbert,
                                                                         .names = {.heads = distilbert_heads},
                                                                         .has_word_pieces = true}),
          pretrained_class<DistilBertForSequenceClassification, DistilBertForSequenceClassificationOptions>(
              "DistilBertForSequenceClassification",
              {.architectures = {"DistilBertForSequenceClassification"},
               .model_types = {"distilbert"},
               .defaults = {},
               .describe = describe_distilbert_classifier,
               .names = {.read = {{"^(embeddings|transformer)\\.", "distilbert.$1."}}, .heads = distilbert_heads},
               .has_word_pieces = true})};
}

}  // namespace mezzo::detail
