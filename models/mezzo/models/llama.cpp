#include <mezzo/models/llama.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/layers/core/rotary_embedding.hpp>
#include <mezzo/models/activation_names.hpp>
#include <mezzo/models/transformer.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/tied_product.hpp>
#include <mezzo/ops/key_value_cache.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

namespace mezzo {
namespace {

std::int64_t head_size(const LlamaOptions& options) {
  return options.head_dim == 0 ? options.hidden_size / options.num_attention_heads : options.head_dim;
}

RMSNormalization norm(const LlamaOptions& options) { return RMSNormalization({.epsilon = options.rms_norm_eps}); }

Dense dense(const LlamaOptions& options, std::int64_t units, bool bias = false) {
  return Dense(
      {.units = units, .use_bias = bias, .kernel_initializer = RandomNormal({.stddev = options.initializer_range})});
}

/// Projection to the heads of queries, or of keys or values.
Dense heads_dense(const LlamaOptions& options, std::int64_t heads) {
  return dense(options, heads * head_size(options), options.attention_bias || options.qkv_bias);
}

RotaryEmbedding rotary(const LlamaOptions& options) {
  const RopeScaling& scaling = options.rope_scaling;
  if (scaling.rope_type == "default") return RotaryEmbedding({.max_wavelength = options.rope_theta});
  return RotaryEmbedding({.max_wavelength = options.rope_theta,
                          .scaling_factor = scaling.factor,
                          .rope_type = scaling.rope_type,
                          .original_max_position_embeddings = scaling.original_max_position_embeddings,
                          .low_freq_factor = scaling.low_freq_factor,
                          .high_freq_factor = scaling.high_freq_factor});
}

/// Mask (1, 1, positions, positions) that is true for the last `window` keys up to each query, and later ones.
Value window_mask(std::int64_t positions, std::int64_t window) {
  Tensor mask({1, 1, positions, positions}, DType::boolean);
  auto* const seen = mask.mutable_data<bool>();
  for (std::int64_t query = 0; query < positions; ++query) {
    for (std::int64_t key = 0; key < positions; ++key) seen[query * positions + key] = query - key < window;
  }
  return mask;
}

struct LlamaBlockOptions {
  LlamaOptions llama{};  ///< options of the whole model
  std::string name{};    ///< name of the layer; "": automatic
  Policy dtype{};        ///< precision policy; default: the policy of the enclosing layer or model
};

/// x + attention(norm(x)), then x + mlp(norm(x)). Inputs: x, and optionally caches of keys and values and the position
/// of x, in the form of cached_attention; then x has one position. Otherwise packed_inputs() may follow. Outputs: x,
/// keys, values.
class LlamaBlock : public Layer {
 public:
  explicit LlamaBlock(LlamaBlockOptions options) : Layer("LlamaBlock", options), options_(std::move(options.llama)) {
    set_weight_files({.rename = {{"^(q_proj|k_proj|v_proj|o_proj)\\.", "self_attn.$1."},
                                 {"^(gate_proj|up_proj|down_proj)\\.", "mlp.$1."}},
                      .skip = {"self_attn.rotary_emb.inv_freq"}});
  }

 protected:
  Values call_many(const Values& xs) override {
    Values out = attention(input_layernorm_(xs[0]), Values(xs.begin() + 1, xs.end()));
    const Value x = xs[0] + out[0];
    const Value y = post_attention_layernorm_(x);
    out[0] = x + down_proj_(activation_(gate_proj_(y)) * up_proj_(y));
    return out;
  }

 private:
  Value heads(const Value& x, std::int64_t count) const {
    return reshape(x, {x.shape()[0], x.shape()[1], count, head_size(options_)});
  }

  /// Returns the result, keys and values.
  Values attention(const Value& x, const Values& rest) {
    const bool cached = rest.size() > 2;
    const std::int64_t queries = options_.num_attention_heads, groups = options_.num_key_value_heads;
    const PositionCallOptions at{.positions = cached ? reshape(rest[2], {1}) : rest.empty() ? Value() : rest[1]};
    const Value query = rotary_(heads(q_proj_(x), queries), at);
    const Value key = rotary_(heads(k_proj_(x), groups), at);
    const Value value = heads(v_proj_(x), groups);
    const auto for_queries = [&](const Value& shared) {
      return groups == queries ? shared : repeat(shared, queries / groups, 2);
    };
    AttentionOpOptions options{.is_causal = true, .dropout = options_.attention_dropout};
    if (!cached && !rest.empty()) options.mask = rest[0];
    const std::int64_t window = options_.sliding_window;
    if (!cached && window > 0 && x.shape()[1] > window) {
      const Value seen = window_mask(x.shape()[1], window);
      options.mask = rest.empty() ? seen : logical_and(rest[0], seen);
    }
    const Value attended = cached ? cached_attention(query, key, value, rest[0], rest[1], rest[2])
                                  : dot_product_attention(query, for_queries(key), for_queries(value), options);
    return {o_proj_(reshape(attended, {x.shape()[0], x.shape()[1], queries * head_size(options_)})), key, value};
  }

  LlamaOptions options_;
  RMSNormalization input_layernorm_ = sub("input_layernorm", norm(options_));
  Dense q_proj_ = sub("q_proj", heads_dense(options_, options_.num_attention_heads));
  Dense k_proj_ = sub("k_proj", heads_dense(options_, options_.num_key_value_heads));
  Dense v_proj_ = sub("v_proj", heads_dense(options_, options_.num_key_value_heads));
  Dense o_proj_ = sub("o_proj", dense(options_, options_.hidden_size, options_.attention_bias));
  RMSNormalization post_attention_layernorm_ = sub("post_attention_layernorm", norm(options_));
  Dense gate_proj_ = sub("gate_proj", dense(options_, options_.intermediate_size, options_.mlp_bias));
  Dense up_proj_ = sub("up_proj", dense(options_, options_.intermediate_size, options_.mlp_bias));
  Dense down_proj_ = sub("down_proj", dense(options_, options_.hidden_size, options_.mlp_bias));
  RotaryEmbedding rotary_ = sub("rotary", rotary(options_));
  ActivationFunction activation_ = detail::activation_of_name(label(), "hidden_act", options_.hidden_act);
};

void check_head_size(const std::string& where, const LlamaOptions& options) {
  if (head_size(options) % 2 == 0) return;
  if (options.head_dim != 0) {
    fail<ValueError>(where, "head_dim must be even, for rotary embeddings; got {}", options.head_dim);
  }
  fail<ValueError>(where, "hidden_size / num_attention_heads must be even, for rotary embeddings; got {} / {}",
                   options.hidden_size, options.num_attention_heads);
}

void check_rope(const std::string& where, const RopeScaling& scaling) {
  const std::string& type = scaling.rope_type;
  if (type != "default" && type != "linear" && type != "llama3") {
    fail<NameError>(where, "unknown rope_scaling.rope_type \"{}\"; valid names: default, linear, llama3", type);
  }
  detail::require_above(where, "rope_scaling.factor", scaling.factor, 0);
  if (type != "llama3") return;
  detail::require_above(where, "rope_scaling.low_freq_factor", scaling.low_freq_factor, 0);
  detail::require_above(where, "rope_scaling.high_freq_factor", scaling.high_freq_factor, scaling.low_freq_factor);
  detail::require_positive(where, "rope_scaling.original_max_position_embeddings",
                           scaling.original_max_position_embeddings);
}

LlamaOptions with_biases(LlamaOptions options) {
  options.qkv_bias = true;
  return options;
}

LlamaOptions checked(const std::string& where, LlamaOptions options) {
  detail::require_positive(where, "vocab_size", options.vocab_size);
  detail::require_positive(where, "hidden_size", options.hidden_size);
  detail::require_positive(where, "intermediate_size", options.intermediate_size);
  detail::require_positive(where, "num_hidden_layers", options.num_hidden_layers);
  detail::require_positive(where, "num_attention_heads", options.num_attention_heads);
  detail::require_positive(where, "max_position_embeddings", options.max_position_embeddings);
  if (options.head_dim == 0) {
    detail::require_divides(where, "num_attention_heads", options.num_attention_heads, "hidden_size",
                            options.hidden_size);
  } else {
    detail::require_positive(where, "head_dim", options.head_dim);
  }
  if (options.num_key_value_heads == 0) options.num_key_value_heads = options.num_attention_heads;
  detail::require_positive(where, "num_key_value_heads", options.num_key_value_heads);
  detail::require_divides(where, "num_key_value_heads", options.num_key_value_heads, "num_attention_heads",
                          options.num_attention_heads);
  check_head_size(where, options);
  detail::activation_of_name(where, "hidden_act", options.hidden_act);
  check_rope(where, options.rope_scaling);
  if (options.sliding_window != 0) detail::require_positive(where, "sliding_window", options.sliding_window);
  return options;
}

struct Dimensions {
  std::int64_t layers = 0, hidden = 0, intermediate = 0, heads = 0, groups = 0, vocabulary = 0, positions = 0;
};

LlamaOptions sized(LlamaOptions options, const Dimensions& size) {
  options.num_hidden_layers = size.layers;
  options.hidden_size = size.hidden;
  options.intermediate_size = size.intermediate;
  options.num_attention_heads = size.heads;
  options.num_key_value_heads = size.groups;
  options.vocab_size = size.vocabulary;
  options.max_position_embeddings = size.positions;
  options.rms_norm_eps = 1e-5;
  return options;
}

}  // namespace

LlamaOptions smollm_135m(LlamaOptions rest) {
  rest.tie_word_embeddings = true;
  return sized(std::move(rest), {.layers = 30,
                                 .hidden = 576,
                                 .intermediate = 1536,
                                 .heads = 9,
                                 .groups = 3,
                                 .vocabulary = 49152,
                                 .positions = 2048});
}

LlamaOptions tinyllama_1_1b(LlamaOptions rest) {
  return sized(std::move(rest), {.layers = 22,
                                 .hidden = 2048,
                                 .intermediate = 5632,
                                 .heads = 32,
                                 .groups = 4,
                                 .vocabulary = 32000,
                                 .positions = 2048});
}

LlamaOptions llama2_7b(LlamaOptions rest) {
  return sized(std::move(rest), {.layers = 32,
                                 .hidden = 4096,
                                 .intermediate = 11008,
                                 .heads = 32,
                                 .groups = 32,
                                 .vocabulary = 32000,
                                 .positions = 4096});
}

LlamaOptions llama3_8b(LlamaOptions rest) {
  rest.rope_theta = 500000;
  return sized(std::move(rest), {.layers = 32,
                                 .hidden = 4096,
                                 .intermediate = 14336,
                                 .heads = 32,
                                 .groups = 8,
                                 .vocabulary = 128256,
                                 .positions = 8192});
}

Llama::Llama(LlamaOptions options) : Llama("Llama", std::move(options)) {}

Llama::Llama(const char* kind, LlamaOptions options)
    : Model(kind, options),
      options_(checked(label(), std::move(options))),
      embed_tokens_(sub("embed_tokens",
                        Embedding({.input_dim = options_.vocab_size,
                                   .output_dim = options_.hidden_size,
                                   .embeddings_initializer = RandomNormal({.stddev = options_.initializer_range})}))) {
  for (std::int64_t i = 0; i < options_.num_hidden_layers; ++i) {
    blocks_.emplace_back(sub(fmt::format("layers{}", i), LlamaBlock({.llama = options_})));
  }
  norm_ = sub("norm", norm(options_));
  if (!options_.tie_word_embeddings) lm_head_.push_back(sub("lm_head", dense(options_, options_.vocab_size)));
  set_weight_files({.rename = {{"^layers([0-9]+)\\.", "model.layers.$1."}, {"^(embed_tokens|norm)\\.", "model.$1."}}});
  detail::WeightFacts facts{.numbers = {{"num_attention_heads", options_.num_attention_heads},
                                        {"num_key_value_heads", options_.num_key_value_heads}}};
  if (options_.tie_word_embeddings) facts.copies = {{"lm_head.weight", "model.embed_tokens.weight"}};
  detail::set_weight_facts(*state(), facts);
}

Values Llama::forward(const Value& ids, const Values& past, const Values& packed) {
  detail::require_rank(label(), ids.shape(), 2, "(batch, positions)");
  const std::int64_t count = ids.shape()[1];
  if (count > options_.max_position_embeddings) {
    fail<ShapeError>(label(), "input_ids may have at most {} positions; got {}", options_.max_position_embeddings,
                     count);
  }
  Values out = detail::run_blocks(blocks_, embed_tokens_(ids), past, packed);
  if (keeps_past_) out[0] = slice(out[0], {.starts = {0, count - 1, 0}, .sizes = {-1, 1, -1}});
  const Value x = norm_(out[0]);
  out[0] = lm_head_.empty() ? detail::tied_product(x, embed_tokens_.embeddings(), embed_tokens_.dtype_policy())
                            : lm_head_[0](x);
  return out;
}

Tensor Llama::generate(const Tensor& input_ids, const GenerateOptions& options) {
  const auto with_past = [this](const Values& state) {
    const ScopedValue<bool> keeps(keeps_past_, true);
    return Layer::operator()(state);
  };
  // A cache has no window: up to this number of positions a window changes nothing.
  const bool windowed = options_.sliding_window > 0 && options_.sliding_window < options_.max_position_embeddings;
  const detail::LanguageModel model{.module = this,
                                    .label = label(),
                                    .vocab_size = options_.vocab_size,
                                    .limit_name = windowed ? "sliding_window" : "max_position_embeddings",
                                    .limit = windowed ? options_.sliding_window : options_.max_position_embeddings,
                                    .with_past = with_past};
  detail::check_generation(model, input_ids, options);
  build({1, 1});
  return detail::generate_tokens(model, input_ids, options, generator_);
}

Values Llama::call_many(const Values& xs) {
  if (keeps_past_) return forward(xs[0], Values(xs.begin() + 1, xs.end()));
  return {forward(xs[0], {}, detail::packed_inputs(label(), xs)).front()};
}

Qwen2::Qwen2(LlamaOptions options) : Llama("Qwen2", with_biases(std::move(options))) {}

Mistral::Mistral(LlamaOptions options) : Llama("Mistral", std::move(options)) {}

}  // namespace mezzo
