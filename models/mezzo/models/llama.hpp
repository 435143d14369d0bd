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

/// Scaling of the wavelengths of rotary embeddings for contexts longer than those of the first training, with Hugging
/// Face's names.
struct RopeScaling {
  /// "default": none. "linear": divides all frequencies by factor. "llama3": divides those with fewer than
  /// low_freq_factor periods in the original context, keeps those with more than high_freq_factor, and interpolates
  /// between both (Llama 3.1).
  std::string rope_type = "default";
  double factor = 1;                                     ///< factor by which contexts are longer, above 0
  double low_freq_factor = 1;                            ///< "llama3": above 0
  double high_freq_factor = 4;                           ///< "llama3": above low_freq_factor
  std::int64_t original_max_position_embeddings = 8192;  ///< "llama3": length of the original context, at least 1
};

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
  RopeScaling rope_scaling{};                   ///< scaling of the wavelengths; default: none
  std::string hidden_act = "silu";              ///< activation of gate_proj, as BertOptions::hidden_act
  std::int64_t head_dim = 0;                    ///< size of a head, even; 0: hidden_size / num_attention_heads
  bool attention_bias = false;                  ///< true: q_proj, k_proj, v_proj and o_proj have biases
  bool qkv_bias = false;                        ///< true: q_proj, k_proj and v_proj have biases
  bool mlp_bias = false;                        ///< true: gate_proj, up_proj and down_proj have biases
  double attention_dropout = 0;                 ///< dropout rate of attention weights, in [0, 1)
  std::int64_t sliding_window = 0;              ///< number of positions that a position attends to, itself and those
                                                ///< before it; 0: all. generate() has no more positions
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
/// queries (Ainslie et al., 2023) and SwiGLU (Shazeer, 2020). Inputs are those of GPT. A ShapeError for more than
/// max_position_embeddings positions, a ValueError for ids out of range when the step runs.
///
/// Layers: embed_tokens, layers0, layers1, ... (input_layernorm, q_proj, k_proj, v_proj, o_proj,
/// post_attention_layernorm, gate_proj, up_proj, down_proj), norm, lm_head (absent if tied).
class MEZZO_API Llama : public Model {
 public:
  /// A ValueError for a size below 1, if num_attention_heads doesn't divide hidden_size, if num_key_value_heads doesn't
  /// divide num_attention_heads, if the head size is odd, or for a rope_scaling out of range; a NameError for an
  /// unknown hidden_act or rope_type.
  explicit Llama(LlamaOptions options = {});

  /// Options given to the constructor.
  const LlamaOptions& options() const { return options_; }

  /// Appends generated tokens, as GPT::generate() does.
  Tensor generate(const Tensor& input_ids, const GenerateOptions& options = {});

 protected:
  /// For a class with the same structure.
  Llama(const char* kind, LlamaOptions options);

  Values call_many(const Values& xs) override;

 private:
  /// Returns logits, then keys and values of each layer. `past`: {}, or the position and the caches of each layer.
  /// `packed`: {}, or a mask and positions.
  Values forward(const Value& ids, const Values& past, const Values& packed = {});

  LlamaOptions options_;
  bool keeps_past_ = false;  // true while generate() calls the model
  detail::Transient<detail::Generator> generator_;
  Embedding embed_tokens_;
  std::vector<Any<Layer>> blocks_;
  RMSNormalization norm_;
  std::vector<Dense> lm_head_;  // empty if tied
};

/// Qwen2, a language model (Yang et al., 2024, arXiv 2407.10671): Llama with qkv_bias, whatever the option says.
class MEZZO_API Qwen2 : public Llama {
 public:
  /// Errors as by Llama.
  explicit Qwen2(LlamaOptions options = {});
};

/// Mistral, a language model (Jiang et al., 2023, arXiv 2310.06825): Llama with a sliding_window.
class MEZZO_API Mistral : public Llama {
 public:
  /// Errors as by Llama.
  explicit Mistral(LlamaOptions options = {});
};

}  // namespace mezzo
