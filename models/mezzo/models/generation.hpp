#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <mezzo/core/shared.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

class Module;

struct GenerateOptions {
  std::int64_t max_new_tokens = 20;  ///< number of tokens to append, at least 0
  bool do_sample = false;            ///< false: the most likely token; true: drawn from softmax(logits / temperature)
  double temperature = 1;            ///< divisor of the logits when sampling, above 0
  std::int64_t top_k = 0;            ///< samples among the top_k most likely tokens only; 0: among all
  std::optional<std::int64_t> eos_token_id{};  ///< token that ends a row of the batch, and fills the rest of the row
};

namespace detail {

class Generator;

/// A language model as generate_tokens() calls it.
struct LanguageModel {
  Module* module = nullptr;     ///< the model; built
  std::string label{};          ///< label() of the model, for errors
  std::int64_t vocab_size = 0;  ///< size of a row of logits
  const char* limit_name = "";  ///< name of the option that limits the positions
  std::int64_t limit = 0;       ///< largest number of positions
  /// Maps ids (batch, positions), or ids (batch, 1), their position and caches of keys and values, to logits of the
  /// last position and the new keys and values of each block.
  std::function<Values(const Values&)> with_past{};
};

/// A ShapeError unless ids has two axes and at least one position, and fits with the new tokens. A ValueError for
/// options out of range.
void check_generation(const LanguageModel& model, const Tensor& ids, const GenerateOptions& options);

/// Appends generated tokens to input_ids (batch, positions), position by position. `kept`: plans and caches of the last
/// call.
Tensor generate_tokens(const LanguageModel& model, const Tensor& input_ids, const GenerateOptions& options,
                       Transient<Generator>& kept);

}  // namespace detail
}  // namespace mezzo
