#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/core/embedding.hpp>
#include <mezzo/layers/normalization/rms_normalization.hpp>
#include <mezzo/models/generation.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Sizes of a Llama, with the names and defaults of Hugging Face's LlamaConfig. All sizes are at least 1.
struct LlamaOptions {
  std::int64_t vocab_size = 32000;              ///< number of token ids
  std::int64_t hidden_size = 4096;              ///< size of embeddings and hidden states
  std::int64_t intermediate_size = 11008;       ///< size between the dense layers of a block
  std::int64_t num_hidden_layers = 32;          ///< number of blocks
  std::int64_t num_attention_heads = 32;        ///< number of heads of queries; divides hidden_size
  std::int64_t num_key_value_heads = 0;         ///< number of heads of keys and values; divides the number of heads of
                                                ///< queries; 0: equal to it
  std::int64_t max_position_embeddings = 2048;  ///< largest number of positions
  double initializer_range = 0.02;              ///< standard deviation of initial kernels and embeddings, at least 0
  double rms_norm_eps = 1e-6;                   ///< epsilon of normalizations, at least 0
  bool tie_word_embeddings = false;             ///< true: the output layer shares the embeddings
  double rope_theta = 10000;                    ///< base of the wavelengths of rotary embeddings, above 1
  std::string name{};                           ///< name of the model; "": automatic
  Policy dtype{};  ///< precision policy; default: the policy of the Trainer or the global one
};

/// @name Sizes
/// Used as `Llama(smollm_135m())`. Other options are passed on.
/// @{
MEZZO_API LlamaOptions smollm_135m(LlamaOptions rest = {});     ///< 30 layers of 576: 134,515,008 weights
MEZZO_API LlamaOptions tinyllama_1_1b(LlamaOptions rest = {});  ///< 22 layers of 2048: 1,100,048,384 weights
MEZZO_API LlamaOptions llama2_7b(LlamaOptions rest = {});       ///< 32 layers of 4096: 6,738,415,616 weights
MEZZO_API LlamaOptions llama3_8b(LlamaOptions rest = {});       ///< 32 layers of 4096: 8,030,261,248 weights
/// @}

/// Llama, a language model (Touvron et al., 2023, arXiv 2302.13971 and 2307.09288), with the structure, names and
/// initial values of Hugging Face's LlamaForCausalLM: input_ids (batch, positions), integers, to logits of the next
/// tokens (batch, positions, vocab_size). Blocks have RMS normalizations, rotary embeddings, attention with grouped
/// queries (Ainslie et al., 2023) and SwiGLU (Shazeer, 2020). Rotary embeddings are not scaled (no rope_scaling). A
/// ShapeError for more than max_position_embeddings positions, a ValueError for ids out of range when the step runs.
///
/// Layers: embed_tokens, layers0, layers1, ... (input_layernorm, q_proj, k_proj, v_proj, o_proj,
/// post_attention_layernorm, gate_proj, up_proj, down_proj), norm, lm_head (absent if tied).
class MEZZO_API Llama : public Model {
 public:
  /// A ValueError for a size below 1, if num_attention_heads doesn't divide hidden_size, if num_key_value_heads doesn't
  /// divide num_attention_heads, or if the head size is odd.
  explicit Llama(LlamaOptions options = {});

  /// Options given to the constructor.
  const LlamaOptions& options() const { return options_; }

  /// Appends generated tokens, as GPT::generate() does.
  Tensor generate(const Tensor& input_ids, const GenerateOptions& options = {});

 protected:
  Values call_many(const Values& xs) override;

 private:
  /// Returns logits, then keys and values of each layer. `past`: {}, or the position and the caches of each layer.
  Values forward(const Value& ids, const Values& past);

  LlamaOptions options_;
  bool keeps_past_ = false;  // true while generate() calls the model
  detail::Transient<detail::Generator> generator_;
  Embedding embed_tokens_;
  std::vector<Any<Layer>> blocks_;
  RMSNormalization norm_;
  std::vector<Dense> lm_head_;  // empty if tied
};

}  // namespace mezzo
