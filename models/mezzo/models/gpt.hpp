#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/embedding.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/models/generation.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Sizes and rates of a GPT, with Hugging Face's names and the defaults of the smallest GPT-2. All sizes are at
/// least 1.
struct GPTOptions {
  std::int64_t vocab_size = 50257;               ///< number of token ids
  std::int64_t n_positions = 1024;               ///< largest number of positions
  std::int64_t n_embd = 768;                     ///< size of embeddings and hidden states
  std::int64_t n_layer = 12;                     ///< number of transformer layers
  std::int64_t n_head = 12;                      ///< number of heads; divides n_embd
  std::int64_t n_inner = 0;                      ///< size between the dense layers of a block; 0: 4 n_embd
  std::string activation_function = "gelu_new";  ///< activation between them, as BertOptions::hidden_act
  double resid_pdrop = 0.1;                      ///< dropout rate before each residual sum, in [0, 1)
  double embd_pdrop = 0.1;                       ///< dropout rate of embeddings, in [0, 1)
  double attn_pdrop = 0.1;                       ///< dropout rate of attention weights, in [0, 1)
  double layer_norm_epsilon = 1e-5;              ///< epsilon of layer normalizations, at least 0
  double initializer_range = 0.02;               ///< standard deviation of initial kernels and embeddings, at least 0
  std::string name{};                            ///< name of the model; "": automatic
  Policy dtype{};  ///< precision policy; default: the policy of the Trainer or the global one
};

/// @name Sizes
/// Used as `GPT(gpt2())`. Other options are passed on: `GPT(gpt2_medium({.resid_pdrop = 0}))`.
/// @{
MEZZO_API GPTOptions gpt2(GPTOptions rest = {});         ///< 12 layers of 768, 12 heads: 124,439,808 weights
MEZZO_API GPTOptions gpt2_medium(GPTOptions rest = {});  ///< 24 layers of 1024, 16 heads: 354,823,168 weights
MEZZO_API GPTOptions gpt2_large(GPTOptions rest = {});   ///< 36 layers of 1280, 20 heads: 774,030,080 weights
MEZZO_API GPTOptions gpt2_xl(GPTOptions rest = {});      ///< 48 layers of 1600, 25 heads: 1,557,611,200 weights
/// @}

/// GPT-2, a language model (Radford et al., 2019, "Language Models are Unsupervised Multitask Learners"), with the
/// structure, names and initial values of Hugging Face's GPT2LMHeadModel: input_ids (batch, positions), integers, to
/// logits of the next tokens (batch, positions, vocab_size). The output layer shares the embeddings. With the inputs
/// input_ids, position_ids and segment_ids, as TextDataset::pack() makes them, tokens attend to tokens of their segment
/// alone. A ShapeError for more than n_positions positions, a ValueError for ids out of range when the step runs.
/// Layers: wte, wpe, h0, h1, ... (ln_1, attn, ln_2, c_fc, c_proj), ln_f.
class MEZZO_API GPT : public Model {
 public:
  /// A ValueError for a size below 1, or if the heads don't divide n_embd; a NameError for an unknown
  /// activation_function.
  explicit GPT(GPTOptions options = {});

  /// Options given to the constructor.
  const GPTOptions& options() const { return options_; }

  /// Appends generated tokens to input_ids (batch, positions): int64 (batch, positions + max_new_tokens). Runs compiled
  /// plans, one for the prompt and one for each new token, with a cache of keys and values in the compute dtype. Plans
  /// and caches are kept for calls with the same number of sequences and no more positions than the caches have (a
  /// power of two). Random draws depend on seed_everything() and the calls since then. A ShapeError unless input_ids
  /// has two axes and at least one position, and all positions except the last generated one fit in n_positions. A
  /// ValueError for options out of range, for ids out of range, or while the model is running.
  Tensor generate(const Tensor& input_ids, const GenerateOptions& options = {});

 protected:
  Values call_many(const Values& xs) override;

 private:
  /// Returns logits, then keys and values of each layer. `past`: {}, or the position and the caches of each layer.
  /// `packed`: {}, or a mask and positions.
  Values forward(const Value& ids, const Values& past, const Values& packed = {});

  GPTOptions options_;
  bool keeps_past_ = false;  // true while generate() calls the model
  detail::Transient<detail::Generator> generator_;
  Embedding wte_, wpe_;
  Dropout drop_;
  std::vector<Any<Layer>> blocks_;
  LayerNormalization ln_f_;
};

}  // namespace mezzo
