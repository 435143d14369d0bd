#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

struct GenerateOptions {
  std::int64_t max_new_tokens = 20;  ///< number of tokens to append, at least 0
  bool do_sample = false;            ///< false: the most likely token; true: drawn from softmax(logits / temperature)
  double temperature = 1;            ///< divisor of the logits when sampling, above 0
  std::int64_t top_k = 0;            ///< samples among the top_k most likely tokens only; 0: among all
  std::optional<std::int64_t> eos_token_id{};  ///< token that ends a row of the batch, and fills the rest of the row
};

namespace detail {

/// A language model as generate_tokens() calls it.
struct LanguageModel {
  std::string label{};                               ///< label() of the model, for errors
  std::int64_t vocab_size = 0;                       ///< size of a row of logits
  const char* limit_name = "";                       ///< name of the option that limits the positions
  std::int64_t limit = 0;                            ///< largest number of positions
  std::function<Values(const Values&)> with_past{};  ///< from ids, keys and values so far to logits, keys and values
};

/// Appends generated tokens to input_ids (batch, positions), position by position.
Tensor generate_tokens(const LanguageModel& model, const Tensor& input_ids, const GenerateOptions& options);

}  // namespace detail
}  // namespace mezzo
