#pragma once
#include <cstdint>

#include <mezzo/models/gpt.hpp>

namespace mezzo_bench {

/// A GPT of 4 layers for texts of 64 characters, without dropout.
inline mezzo::GPTOptions character_gpt(std::int64_t characters) {
  return {.vocab_size = characters,
          .n_positions = 64,
          .n_embd = 128,
          .n_layer = 4,
          .n_head = 4,
          .resid_pdrop = 0,
          .embd_pdrop = 0,
          .attn_pdrop = 0};
}

}  // namespace mezzo_bench
