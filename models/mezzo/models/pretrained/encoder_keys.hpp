#pragma once
#include <mezzo/models/pretrained/config_fields.hpp>

namespace mezzo::detail {

/// Keys of encoders that have BERT's layers: sizes, activation, dropout rates and normalization.
template <class Options>
void describe_encoder_layers(ConfigFields& fields, Options& options) {
  fields.size("hidden_size", options.hidden_size);
  fields.layers("num_hidden_layers", options.num_hidden_layers);
  fields.size("num_attention_heads", options.num_attention_heads);
  fields.size("intermediate_size", options.intermediate_size);
  fields.activation("hidden_act", options.hidden_act);
  fields.number("hidden_dropout_prob", options.hidden_dropout_prob);
  fields.number("attention_probs_dropout_prob", options.attention_probs_dropout_prob);
  fields.number("initializer_range", options.initializer_range);
  fields.number("layer_norm_eps", options.layer_norm_eps);
}

/// Keys of encoders of text, with the embeddings of tokens, positions and types.
template <class Options>
void describe_text_encoder(ConfigFields& fields, Options& options) {
  describe_encoder_layers(fields, options);
  fields.size("vocab_size", options.vocab_size);
  fields.size("max_position_embeddings", options.max_position_embeddings);
  fields.size("type_vocab_size", options.type_vocab_size);
  fields.one_of("position_embedding_type", {"absolute", Json()});
}

}  // namespace mezzo::detail
