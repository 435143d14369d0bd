#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/remat.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Options of layers whose intermediate values are not kept for the backward pass, but computed again there.
struct RematOptions {
  /// "full": all; "larger_than": those whose outputs for one sample have more than `output_size_threshold` elements in
  /// all; "none": none, inside a scope of another mode.
  std::string mode = "full";
  std::int64_t output_size_threshold = 1024;  ///< elements, at least 0; for "larger_than"
};

/// Applies the options to layers that are made on this thread within its lifetime, and for models and modules to the
/// layers in them. Only the innermost scope has an effect. As keras.RematScope, without "list_of_layers" (use
/// Layer::set_remat()) and "activations".
///
///     const RematScope again({.mode = "full"});
///     GPT model(gpt2());  // each block keeps its input alone
class MEZZO_API RematScope {
 public:
  /// A ValueError for another mode or a threshold below 0.
  explicit RematScope(const RematOptions& options = {});
  ~RematScope();
  RematScope(const RematScope&) = delete;
  RematScope& operator=(const RematScope&) = delete;

 private:
  detail::RematRule outer_;
};

namespace detail {
/// Rule of the innermost RematScope of this thread.
MEZZO_API RematRule current_remat_rule();

/// True if, by the rule, a call with these outputs is computed again.
bool computed_again(const RematRule& rule, const Values& outputs);
}  // namespace detail

}  // namespace mezzo
