#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/layers/dropout.hpp>
#include <mezzo/layers/embedding.hpp>
#include <mezzo/layers/layer_normalization.hpp>
#include <mezzo/training/model.hpp>

namespace mezzo {

/// Sizes and rates of a GPT, with Hugging Face's names and defaults (those of the smallest GPT-2).
struct GPTOptions {
  std::int64_t vocab_size = 50257;
  std::int64_t n_positions = 1024;
  std::int64_t n_embd = 768;
  std::int64_t n_layer = 12;
  std::int64_t n_head = 12;
  double resid_pdrop = 0.1;
  double embd_pdrop = 0.1;
  double attn_pdrop = 0.1;
  double layer_norm_epsilon = 1e-5;
  double initializer_range = 0.02;  ///< standard deviation of initial kernels and embeddings
  std::string name{};
  Policy dtype{};
};

/// @name Sizes
/// As `GPT(gpt2())`; what else there is to say is passed: `GPT(gpt2_medium({.resid_pdrop = 0}))`.
/// @{
GPTOptions gpt2(GPTOptions rest = {});         ///< 12 layers of 768, 12 heads: 124,439,808 weights
GPTOptions gpt2_medium(GPTOptions rest = {});  ///< 24 layers of 1024, 16 heads: 354,823,168 weights
GPTOptions gpt2_large(GPTOptions rest = {});   ///< 36 layers of 1280, 20 heads: 774,030,080 weights
GPTOptions gpt2_xl(GPTOptions rest = {});      ///< 48 layers of 1600, 25 heads: 1,557,611,200 weights
/// @}

/// What to make of a prompt. With `do_sample` false the most likely token follows, else one drawn from the softmax of
/// logits / temperature, among the `top_k` most likely ones (0: all). A row of the batch that came to `eos_token_id` is
/// filled up with it.
struct GenerateOptions {
  std::int64_t max_new_tokens = 20;
  bool do_sample = false;
  double temperature = 1;
  std::int64_t top_k = 0;
  std::optional<std::int64_t> eos_token_id{};
};

/// Language model (Radford et al., 2019, "Language Models are Unsupervised Multitask Learners") with the structure,
/// names and initial values of Hugging Face's GPT2LMHeadModel: input_ids (batch, positions), integers, to logits
/// (batch, positions, vocab_size) of the tokens that follow; the output layer shares the embeddings. A ShapeError for
/// more than n_positions, a ValueError for ids out of range when the step runs. Layers: wte, wpe, h0, h1, ... (ln_1,
/// attn, ln_2, c_fc, c_proj), ln_f.
class GPT : public Model {
 public:
  /// A ValueError for sizes below 1, and unless the heads divide n_embd.
  explicit GPT(GPTOptions options = {});

  const GPTOptions& options() const { return options_; }

  /// (batch, positions + new ones): the ids, int64, and what follows them. Computed at once, position by position, with
  /// the keys and values of earlier ones kept. Draws depend on seed_everything and the calls since then. A ShapeError
  /// unless the ids have two axes with a position at least and n_positions suffices; a ValueError for a temperature
  /// that isn't positive or a negative top_k.
  Tensor generate(const Tensor& input_ids, const GenerateOptions& options = {});

 protected:
  Values call_many(const Values& xs) override;

 private:
  /// Logits, then keys and values of each layer. `past`: those of earlier positions, or {}.
  Values forward(const Value& ids, const Values& past);

  /// The same by a call of the model, of ids and, behind them, what it gave for earlier ones.
  Values with_past(const Values& state);

  GPTOptions options_;
  bool keeps_past_ = false;  // in a call by with_past
  Embedding wte_, wpe_;
  Dropout drop_;
  std::vector<Any<Layer>> blocks_;
  LayerNormalization ln_f_;
};

}  // namespace mezzo
