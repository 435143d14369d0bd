#pragma once

#include <mezzo/models/bert.hpp>
#include <mezzo/models/distilbert.hpp>
#include <mezzo/models/gpt.hpp>
#include <mezzo/models/llama.hpp>
#include <mezzo/models/roberta.hpp>
#include <mezzo/models/vit.hpp>
#include <mezzo/models/vit_model.hpp>

// Sizes of small models; tests/parity/models.py recorded some of them.
namespace mezzo_tests {

inline mezzo::BertOptions small_bert() {
  return {.vocab_size = 19,
          .hidden_size = 12,
          .num_hidden_layers = 2,
          .num_attention_heads = 3,
          .intermediate_size = 20,
          .max_position_embeddings = 10,
          .hidden_dropout_prob = 0,
          .attention_probs_dropout_prob = 0};
}

inline mezzo::RobertaOptions small_roberta() {
  return {.vocab_size = 19,
          .hidden_size = 12,
          .num_hidden_layers = 2,
          .num_attention_heads = 3,
          .intermediate_size = 20,
          .max_position_embeddings = 10};
}

inline mezzo::DistilBertOptions small_distilbert() {
  return {.vocab_size = 19,
          .max_position_embeddings = 10,
          .n_layers = 2,
          .n_heads = 3,
          .dim = 12,
          .hidden_dim = 20,
          .dropout = 0,
          .attention_dropout = 0};
}

inline mezzo::GPTOptions small_gpt() {
  return {.vocab_size = 17,
          .n_positions = 12,
          .n_embd = 12,
          .n_layer = 2,
          .n_head = 3,
          .resid_pdrop = 0,
          .embd_pdrop = 0,
          .attn_pdrop = 0};
}

inline mezzo::LlamaOptions small_llama() {
  return {.vocab_size = 17,
          .hidden_size = 24,
          .intermediate_size = 20,
          .num_hidden_layers = 2,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .max_position_embeddings = 12};
}

inline mezzo::ViTOptions small_vit() {
  return {
      .image_size = 8, .patch_size = 4, .num_layers = 2, .num_heads = 3, .hidden_dim = 12, .mlp_dim = 20, .classes = 5};
}

inline mezzo::ViTModelOptions small_vit_model() {
  return {.hidden_size = 12,
          .num_hidden_layers = 2,
          .num_attention_heads = 3,
          .intermediate_size = 20,
          .image_size = 8,
          .patch_size = 4,
          .num_channels = 1};
}

}  // namespace mezzo_tests
