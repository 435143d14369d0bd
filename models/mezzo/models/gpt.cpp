#include <mezzo/models/gpt.hpp>

#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/models/activation_names.hpp>
#include <mezzo/models/transformer.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/tied_product.hpp>

namespace mezzo {
namespace {

Dense dense(std::int64_t units, double deviation) {
  return Dense({.units = units, .kernel_initializer = RandomNormal({.stddev = deviation})});
}

/// Initial standard deviation of the 2 n_layer layers that end in a residual sum.
double residual_deviation(const GPTOptions& options) {
  return options.initializer_range / std::sqrt(2.0 * static_cast<double>(options.n_layer));
}

std::int64_t inner_size(const GPTOptions& options) {
  return options.n_inner == 0 ? 4 * options.n_embd : options.n_inner;
}

LayerNormalization norm(const GPTOptions& options) {
  return LayerNormalization({.epsilon = options.layer_norm_epsilon});
}

Embedding embedding(const GPTOptions& options, std::int64_t rows) {
  return Embedding({.input_dim = rows,
                    .output_dim = options.n_embd,
                    .embeddings_initializer = RandomNormal({.stddev = options.initializer_range})});
}

struct GPTBlockOptions {
  GPTOptions gpt{};    ///< options of the whole model
  std::string name{};  ///< name of the layer; "": automatic
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// x + attention(norm(x)), then x + mlp(norm(x)). Inputs: x, and optionally those that follow it in SelfAttention.
/// Outputs: x, keys, values.
class GPTBlock : public Layer {
 public:
  explicit GPTBlock(GPTBlockOptions options) : Layer("GPTBlock", options), options_(std::move(options.gpt)) {
    set_weight_files({.rename = {{"^(c_fc|c_proj)\\.", "mlp.$1."}},
                      .plain = {".*(c_attn|c_fc|c_proj)\\.weight"},
                      .skip = {"attn.bias", "attn.masked_bias"}});
  }

 protected:
  Values call_many(const Values& xs) override {
    Values attention = xs;
    attention[0] = ln_1_(xs[0]);
    Values out = attn_(attention);
    const Value x = xs[0] + drop_(out[0]);
    out[0] = x + drop_(c_proj_(activation_(c_fc_(ln_2_(x)))));
    return out;
  }

 private:
  detail::SelfAttention attention() const {
    return detail::SelfAttention({.num_heads = options_.n_head,
                                  .input = dense(3 * options_.n_embd, options_.initializer_range),
                                  .output = dense(options_.n_embd, residual_deviation(options_)),
                                  .input_name = "c_attn",
                                  .output_name = "c_proj",
                                  .causal = true,
                                  .dropout = options_.attn_pdrop});
  }

  GPTOptions options_;
  LayerNormalization ln_1_ = sub("ln_1", norm(options_));
  detail::SelfAttention attn_ = sub("attn", attention());
  LayerNormalization ln_2_ = sub("ln_2", norm(options_));
  Dense c_fc_ = sub("c_fc", dense(inner_size(options_), options_.initializer_range));
  Dense c_proj_ = sub("c_proj", dense(options_.n_embd, residual_deviation(options_)));
  Dropout drop_ = sub("drop", Dropout({.rate = options_.resid_pdrop}));
  ActivationFunction activation_ =
      detail::activation_of_name(label(), "activation_function", options_.activation_function);
};

GPTOptions checked(const std::string& where, GPTOptions options) {
  detail::require_positive(where, "vocab_size", options.vocab_size);
  detail::require_positive(where, "n_positions", options.n_positions);
  detail::require_positive(where, "n_embd", options.n_embd);
  detail::require_positive(where, "n_layer", options.n_layer);
  detail::require_positive(where, "n_head", options.n_head);
  detail::require_divides(where, "n_head", options.n_head, "n_embd", options.n_embd);
  if (options.n_inner != 0) detail::require_positive(where, "n_inner", options.n_inner);
  detail::activation_of_name(where, "activation_function", options.activation_function);
  return options;
}

GPTOptions sized(GPTOptions options, std::int64_t layers, std::int64_t size, std::int64_t heads) {
  options.n_layer = layers;
  options.n_embd = size;
  options.n_head = heads;
  return options;
}

}  // namespace

GPTOptions gpt2(GPTOptions rest) { return sized(std::move(rest), 12, 768, 12); }
GPTOptions gpt2_medium(GPTOptions rest) { return sized(std::move(rest), 24, 1024, 16); }
GPTOptions gpt2_large(GPTOptions rest) { return sized(std::move(rest), 36, 1280, 20); }
GPTOptions gpt2_xl(GPTOptions rest) { return sized(std::move(rest), 48, 1600, 25); }

GPT::GPT(GPTOptions options)
    : Model("GPT", options),
      options_(checked(label(), std::move(options))),
      wte_(sub("wte", embedding(options_, options_.vocab_size))),
      wpe_(sub("wpe", embedding(options_, options_.n_positions))),
      drop_(sub("drop", Dropout({.rate = options_.embd_pdrop}))) {
  for (std::int64_t i = 0; i < options_.n_layer; ++i) {
    blocks_.emplace_back(sub(fmt::format("h{}", i), GPTBlock({.gpt = options_})));
  }
  ln_f_ = sub("ln_f", norm(options_));
  set_weight_files({.rename = {{"^h([0-9]+)\\.", "h.$1."}}, .optional_prefix = "transformer."});
  detail::set_weight_facts(*state(), {.copies = {{"lm_head.weight", "wte.weight"}}});
}

Values GPT::forward(const Value& ids, const Values& past, const Values& packed) {
  detail::require_rank(label(), ids.shape(), 2, "(batch, positions)");
  const std::int64_t count = ids.shape()[1];
  if (count > options_.n_positions) {
    fail<ShapeError>(label(), "input_ids may have at most {} positions; got {}", options_.n_positions, count);
  }
  const Value positions = !packed.empty() ? packed[1]
                          : past.empty()  ? detail::position_ids(0, count)
                                          : reshape(past[0], {1});
  Values out = detail::run_blocks(blocks_, drop_(wte_(ids) + wpe_(positions)), past, packed);
  if (keeps_past_) out[0] = slice(out[0], {.starts = {0, count - 1, 0}, .sizes = {-1, 1, -1}});
  out[0] = detail::tied_product(ln_f_(out[0]), wte_.embeddings(), wte_.dtype_policy());
  return out;
}

Tensor GPT::generate(const Tensor& input_ids, const GenerateOptions& options) {
  const auto with_past = [this](const Values& state) {
    const ScopedValue<bool> keeps(keeps_past_, true);
    return Layer::operator()(state);
  };
  const detail::LanguageModel model{.module = this,
                                    .label = label(),
                                    .vocab_size = options_.vocab_size,
                                    .limit_name = "n_positions",
                                    .limit = options_.n_positions,
                                    .with_past = with_past};
  detail::check_generation(model, input_ids, options);
  build({1, 1});
  return detail::generate_tokens(model, input_ids, options, generator_);
}

Values GPT::call_many(const Values& xs) {
  if (keeps_past_) return forward(xs[0], Values(xs.begin() + 1, xs.end()));
  return {forward(xs[0], {}, detail::packed_inputs(label(), xs)).front()};
}

}  // namespace mezzo
