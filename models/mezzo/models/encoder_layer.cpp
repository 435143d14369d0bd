#include <mezzo/models/encoder_layer.hpp>

#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/models/activation_names.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

Dense encoder_dense(const EncoderOptions& options, std::int64_t units, const ActivationFunction& activation) {
  return Dense({.units = units,
                .activation = activation,
                .kernel_initializer = RandomNormal({.stddev = options.initializer_range})});
}

Embedding encoder_embedding(const EncoderOptions& options, std::int64_t rows) {
  return Embedding({.input_dim = rows,
                    .output_dim = options.hidden_size,
                    .embeddings_initializer = RandomNormal({.stddev = options.initializer_range})});
}

LayerNormalization encoder_norm(const EncoderOptions& options) {
  return LayerNormalization({.epsilon = options.epsilon});
}

EncoderLayer::EncoderLayer(const char* kind, EncoderLayerOptions options)
    : Layer(kind, options),
      options_(options.encoder),
      attention_(sub("attention", MultiHeadAttention(
                                      {.num_heads = options_.num_heads,
                                       .key_dim = options_.hidden_size / options_.num_heads,
                                       .dropout = options_.attention_dropout,
                                       .kernel_initializer = RandomNormal({.stddev = options_.initializer_range})}))) {
  set_weight_files({.rename = std::move(options.rename)});
}

Dense EncoderLayer::intermediate_dense() const {
  return encoder_dense(options_, options_.intermediate_size,
                       activation_of_name(label(), "activation", options_.activation));
}

Values EncoderLayer::call_many(const Values& xs) {
  const Value& queries = xs[1];
  AttentionCallOptions call;
  if (xs.size() > 2) call.attention_mask = xs[2];
  const Value attended = attention_norm_(dropout_(attention_(queries, xs[0], call)) + queries);
  return {output_norm_(dropout_(output_(intermediate_(attended))) + attended)};
}

Value padding_mask(const Value& attention_mask) {
  const Shape& shape = attention_mask.shape();
  return reshape(cast(attention_mask, DType::boolean), {shape[0], 1, 1, shape[1]});
}

}  // namespace mezzo::detail
