#include <mezzo/models/bert.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/models/activation_names.hpp>
#include <mezzo/models/encoder_layer.hpp>
#include <mezzo/models/mean_pooling.hpp>
#include <mezzo/models/transformer.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

detail::EncoderOptions encoder(const BertOptions& options) {
  return {.hidden_size = options.hidden_size,
          .num_heads = options.num_attention_heads,
          .intermediate_size = options.intermediate_size,
          .activation = options.hidden_act,
          .dropout = options.hidden_dropout_prob,
          .attention_dropout = options.attention_probs_dropout_prob,
          .epsilon = options.layer_norm_eps,
          .initializer_range = options.initializer_range};
}

Embedding embedding(const BertOptions& options, std::int64_t rows) {
  return detail::encoder_embedding(encoder(options), rows);
}

detail::EncoderLayer layer(const BertOptions& options) {
  return {"BertLayer",
          {.encoder = encoder(options),
           .rename = {{"^attention\\.(query|key|value)\\.", "attention.self.$1."},
                      {"^attention\\.attention_output\\.", "attention.output.dense."},
                      {"^attention_norm\\.", "attention.output.LayerNorm."},
                      {"^intermediate\\.", "intermediate.dense."},
                      {"^output\\.", "output.dense."},
                      {"^output_norm\\.", "output.LayerNorm."}}}};
}

BertOptions checked(const std::string& where, BertOptions options) {
  detail::require_positive(where, "vocab_size", options.vocab_size);
  detail::require_positive(where, "hidden_size", options.hidden_size);
  detail::require_positive(where, "num_hidden_layers", options.num_hidden_layers);
  detail::require_positive(where, "num_attention_heads", options.num_attention_heads);
  detail::require_positive(where, "intermediate_size", options.intermediate_size);
  detail::require_positive(where, "max_position_embeddings", options.max_position_embeddings);
  detail::require_positive(where, "type_vocab_size", options.type_vocab_size);
  detail::require_divides(where, "num_attention_heads", options.num_attention_heads, "hidden_size",
                          options.hidden_size);
  detail::activation_of_name(where, "hidden_act", options.hidden_act);
  if (options.pooled_only && !options.add_pooling_layer) {
    fail<ValueError>(where, "add_pooling_layer must be true with pooled_only; got false");
  }
  return options;
}

BertForSequenceClassificationOptions checked(const std::string& where, BertForSequenceClassificationOptions options) {
  detail::require_positive(where, "num_labels", options.num_labels);
  if (!options.bert.add_pooling_layer) {
    fail<ValueError>(where, "bert.add_pooling_layer must be true; got false");
  }
  options.bert.pooled_only = !options.all_positions;
  return options;
}

BertOptions sized(BertOptions options, std::int64_t layers, std::int64_t size, std::int64_t heads) {
  options.num_hidden_layers = layers;
  options.hidden_size = size;
  options.num_attention_heads = heads;
  options.intermediate_size = 4 * size;
  return options;
}

}  // namespace

BertOptions bert_base(BertOptions rest) { return sized(std::move(rest), 12, 768, 12); }
BertOptions bert_large(BertOptions rest) { return sized(std::move(rest), 24, 1024, 16); }
BertOptions minilm_l6(BertOptions rest) { return sized(std::move(rest), 6, 384, 12); }

Bert::Bert(BertOptions options) : Bert("Bert", std::move(options), "bert.") {}

Bert::Bert(const char* kind, BertOptions options, const std::string& optional_prefix)
    : Model(kind, options),
      options_(checked(label(), std::move(options))),
      word_embeddings_(sub("word_embeddings", embedding(options_, options_.vocab_size))),
      position_embeddings_(sub("position_embeddings", embedding(options_, options_.max_position_embeddings))),
      token_type_embeddings_(sub("token_type_embeddings", embedding(options_, options_.type_vocab_size))),
      embeddings_norm_(sub("embeddings_norm", detail::encoder_norm(encoder(options_)))),
      dropout_(sub("dropout", Dropout({.rate = options_.hidden_dropout_prob}))) {
  for (std::int64_t i = 0; i < options_.num_hidden_layers; ++i) {
    layers_.emplace_back(sub(fmt::format("layer{}", i), layer(options_)));
  }
  if (options_.add_pooling_layer)
    pooler_.push_back(sub("pooler", detail::encoder_dense(encoder(options_), options_.hidden_size, "tanh")));
  std::vector<std::string> skip{"embeddings.position_ids"};
  if (!options_.add_pooling_layer) skip.insert(skip.end(), {"pooler.dense.weight", "pooler.dense.bias"});
  set_weight_files({.rename = {{"^(word|position|token_type)_embeddings\\.", "embeddings.$1_embeddings."},
                               {"^embeddings_norm\\.", "embeddings.LayerNorm."},
                               {"^layer([0-9]+)\\.", "encoder.layer.$1."},
                               {"^pooler\\.", "pooler.dense."}},
                    .skip = skip,
                    .optional_prefix = optional_prefix});
}

Value Bert::position_indices(const Value& ids) const {
  const std::int64_t positions = ids.shape()[1];
  if (positions > options_.max_position_embeddings) {
    fail<ShapeError>(label(), "input_ids may have at most {} positions; got shape {}", options_.max_position_embeddings,
                     ids.shape());
  }
  return detail::position_ids(0, positions);
}

Value Bert::embed(const Value& ids, const Values& types) {
  const Value positions = position_indices(ids);
  const Value type = types.empty() ? Value(Tensor({ids.shape()[1]}, DType::int32)) : types[0];
  const Value sum = word_embeddings_(ids) + token_type_embeddings_(type) + position_embeddings_(positions);
  return dropout_(embeddings_norm_(sum));
}

Values Bert::call_many(const Values& xs) {
  if (xs.size() > 3) {
    fail<ValueError>(label(), "takes 1 to 3 inputs (input_ids, attention_mask, token_type_ids); got {}", xs.size());
  }
  for (const Value& x : xs) detail::require_rank(label(), x.shape(), 2, "(batch, positions)");
  Value x = embed(xs[0], Values(xs.begin() + std::min<std::ptrdiff_t>(2, xs.end() - xs.begin()), xs.end()));
  Values mask;
  if (xs.size() > 1) mask = {detail::padding_mask(xs[1])};
  for (Any<Layer>& layer : layers_) {
    const bool first_only = options_.pooled_only && &layer == &layers_.back();
    Values in{x, first_only ? slice(x, {.starts = {0, 0, 0}, .sizes = {-1, 1, -1}}) : x};
    in.insert(in.end(), mask.begin(), mask.end());
    x = (*layer)(in).front();
  }
  if (pooler_.empty()) return {x};
  const Value pooled = pooler_[0](detail::at_position(x, 0));
  return options_.pooled_only ? Values{pooled} : Values{x, pooled};
}

BertForSequenceClassification::BertForSequenceClassification(BertForSequenceClassificationOptions options)
    : Model("BertForSequenceClassification", options),
      options_(checked(label(), std::move(options))),
      bert_(sub("bert", Bert(options_.bert))),
      dropout_(
          sub("dropout", Dropout({.rate = options_.classifier_dropout.value_or(options_.bert.hidden_dropout_prob)}))),
      classifier_(sub("classifier", detail::encoder_dense(encoder(options_.bert), options_.num_labels))) {}

Values BertForSequenceClassification::call_many(const Values& xs) { return {classifier_(dropout_(bert_(xs).back()))}; }

Value mean_pooling(const Value& states, const Value& attention_mask) {
  const Value used = cast(cast(attention_mask, DType::boolean), states.dtype());
  const Shape& shape = used.shape();
  const Value mask = reshape(used, {shape[0], shape[1], 1});
  const Value count = sum(mask, {.axes = {1}});
  return sum(states * mask, {.axes = {1}}) / where(equal(count, 0), 1, count);
}

}  // namespace mezzo
