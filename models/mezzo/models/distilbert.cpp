#include <mezzo/models/distilbert.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/models/activation_names.hpp>
#include <mezzo/models/encoder_layer.hpp>
#include <mezzo/models/transformer.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

detail::EncoderOptions encoder(const DistilBertOptions& options) {
  return {.hidden_size = options.dim,
          .num_heads = options.n_heads,
          .intermediate_size = options.hidden_dim,
          .activation = options.activation,
          .dropout = options.dropout,
          .attention_dropout = options.attention_dropout,
          .initializer_range = options.initializer_range};
}

detail::EncoderLayer layer(const DistilBertOptions& options) {
  return {"DistilBertLayer",
          {.encoder = encoder(options),
           .rename = {{"^attention\\.query\\.", "attention.q_lin."},
                      {"^attention\\.key\\.", "attention.k_lin."},
                      {"^attention\\.value\\.", "attention.v_lin."},
                      {"^attention\\.attention_output\\.", "attention.out_lin."},
                      {"^attention_norm\\.", "sa_layer_norm."},
                      {"^intermediate\\.", "ffn.lin1."},
                      {"^output\\.", "ffn.lin2."},
                      {"^output_norm\\.", "output_layer_norm."}}}};
}

DistilBertOptions checked(const std::string& where, DistilBertOptions options) {
  detail::require_positive(where, "vocab_size", options.vocab_size);
  detail::require_positive(where, "max_position_embeddings", options.max_position_embeddings);
  detail::require_positive(where, "n_layers", options.n_layers);
  detail::require_positive(where, "n_heads", options.n_heads);
  detail::require_positive(where, "dim", options.dim);
  detail::require_positive(where, "hidden_dim", options.hidden_dim);
  detail::require_divides(where, "n_heads", options.n_heads, "dim", options.dim);
  detail::activation_of_name(where, "activation", options.activation);
  return options;
}

DistilBertForSequenceClassificationOptions checked(const std::string& where,
                                                   DistilBertForSequenceClassificationOptions options) {
  detail::require_positive(where, "num_labels", options.num_labels);
  return options;
}

}  // namespace

DistilBert::DistilBert(DistilBertOptions options)
    : Model("DistilBert", options),
      options_(checked(label(), std::move(options))),
      word_embeddings_(sub("word_embeddings", detail::encoder_embedding(encoder(options_), options_.vocab_size))),
      position_embeddings_(
          sub("position_embeddings", detail::encoder_embedding(encoder(options_), options_.max_position_embeddings))),
      embeddings_norm_(sub("embeddings_norm", detail::encoder_norm(encoder(options_)))),
      dropout_(sub("dropout", Dropout({.rate = options_.dropout}))) {
  for (std::int64_t i = 0; i < options_.n_layers; ++i) {
    layers_.emplace_back(sub(fmt::format("layer{}", i), layer(options_)));
  }
  set_weight_files({.rename = {{"^(word|position)_embeddings\\.", "embeddings.$1_embeddings."},
                               {"^embeddings_norm\\.", "embeddings.LayerNorm."},
                               {"^layer([0-9]+)\\.", "transformer.layer.$1."}},
                    .skip = {"embeddings.position_ids"},
                    .optional_prefix = "distilbert."});
}

Values DistilBert::call_many(const Values& xs) {
  if (xs.size() > 2) {
    fail<ValueError>(label(), "takes 1 or 2 inputs (input_ids, attention_mask); got {}", xs.size());
  }
  for (const Value& x : xs) detail::require_rank(label(), x.shape(), 2, "(batch, positions)");
  const std::int64_t positions = xs[0].shape()[1];
  if (positions > options_.max_position_embeddings) {
    fail<ShapeError>(label(), "input_ids may have at most {} positions; got shape {}", options_.max_position_embeddings,
                     xs[0].shape());
  }
  const Value sum = word_embeddings_(xs[0]) + position_embeddings_(detail::position_ids(0, positions));
  Value x = dropout_(embeddings_norm_(sum));
  for (Any<Layer>& layer : layers_) {
    Values in{x, x};
    if (xs.size() > 1) in.push_back(detail::padding_mask(xs[1]));
    x = (*layer)(in).front();
  }
  return {x};
}

DistilBertForSequenceClassification::DistilBertForSequenceClassification(
    DistilBertForSequenceClassificationOptions options)
    : Model("DistilBertForSequenceClassification", options),
      options_(checked(label(), std::move(options))),
      distilbert_(sub("distilbert", DistilBert(options_.distilbert))),
      pre_classifier_(
          sub("pre_classifier", detail::encoder_dense(encoder(options_.distilbert), options_.distilbert.dim, "relu"))),
      classifier_(sub("classifier", detail::encoder_dense(encoder(options_.distilbert), options_.num_labels))),
      dropout_(sub("dropout", Dropout({.rate = options_.seq_classif_dropout}))) {}

Values DistilBertForSequenceClassification::call_many(const Values& xs) {
  const Value first = detail::at_position(distilbert_(xs).front(), 0);
  return {classifier_(dropout_(pre_classifier_(first)))};
}

}  // namespace mezzo
