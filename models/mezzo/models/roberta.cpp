#include <mezzo/models/roberta.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/models/encoder_layer.hpp>
#include <mezzo/models/transformer.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

BertOptions as_bert(const RobertaOptions& options) {
  return {.vocab_size = options.vocab_size,
          .hidden_size = options.hidden_size,
          .num_hidden_layers = options.num_hidden_layers,
          .num_attention_heads = options.num_attention_heads,
          .intermediate_size = options.intermediate_size,
          .hidden_act = options.hidden_act,
          .max_position_embeddings = options.max_position_embeddings,
          .type_vocab_size = options.type_vocab_size,
          .hidden_dropout_prob = options.hidden_dropout_prob,
          .attention_probs_dropout_prob = options.attention_probs_dropout_prob,
          .layer_norm_eps = options.layer_norm_eps,
          .initializer_range = options.initializer_range,
          .add_pooling_layer = options.add_pooling_layer,
          .name = options.name,
          .dtype = options.dtype};
}

/// Rows of the position embeddings before that of the first token.
std::int64_t first_position(const RobertaOptions& options) { return options.pad_token_id + 1; }

RobertaForSequenceClassificationOptions checked(const std::string& where,
                                                RobertaForSequenceClassificationOptions options) {
  detail::require_positive(where, "num_labels", options.num_labels);
  options.roberta.add_pooling_layer = false;
  return options;
}

Dense classifier_dense(const RobertaOptions& options, std::int64_t units, const ActivationFunction& activation = {}) {
  return detail::encoder_dense({.initializer_range = options.initializer_range}, units, activation);
}

}  // namespace

Roberta::Roberta(RobertaOptions options)
    : Bert("Roberta", as_bert(options), "roberta."), roberta_options_(std::move(options)) {
  const RobertaOptions& given = roberta_options_;
  if (given.pad_token_id < 0 || first_position(given) >= given.max_position_embeddings) {
    fail<ValueError>(label(), "pad_token_id must be from 0 to max_position_embeddings - 2 = {}; got {}",
                     given.max_position_embeddings - 2, given.pad_token_id);
  }
}

Value Roberta::position_indices(const Value& ids) const {
  const std::int64_t most = roberta_options_.max_position_embeddings - first_position(roberta_options_);
  if (ids.shape()[1] > most) {
    fail<ShapeError>(label(), "input_ids may have at most {} positions; got shape {}", most, ids.shape());
  }
  const Value tokens = cast(not_equal(ids, roberta_options_.pad_token_id), DType::int32);
  return cumsum(tokens, 1) * tokens + roberta_options_.pad_token_id;
}

RobertaForSequenceClassification::RobertaForSequenceClassification(RobertaForSequenceClassificationOptions options)
    : Model("RobertaForSequenceClassification", options),
      options_(checked(label(), std::move(options))),
      roberta_(sub("roberta", Roberta(options_.roberta))),
      classifier_dense_(
          sub("classifier_dense", classifier_dense(options_.roberta, options_.roberta.hidden_size, "tanh"))),
      classifier_out_proj_(sub("classifier_out_proj", classifier_dense(options_.roberta, options_.num_labels))),
      dropout_(sub("dropout",
                   Dropout({.rate = options_.classifier_dropout.value_or(options_.roberta.hidden_dropout_prob)}))) {
  set_weight_files({.rename = {{"^classifier_(dense|out_proj)\\.", "classifier.$1."}}});
}

Values RobertaForSequenceClassification::call_many(const Values& xs) {
  const Value first = detail::at_position(roberta_(xs).front(), 0);
  return {classifier_out_proj_(dropout_(classifier_dense_(dropout_(first))))};
}

}  // namespace mezzo
