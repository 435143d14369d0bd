#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ReversibleEmbeddingOptions {
  std::int64_t input_dim = 0;                           ///< required; number of rows of the table, at least 1
  std::int64_t output_dim = 0;                          ///< required; size of a row, at least 1
  bool tie_weights = true;                              ///< true: the reverse direction uses the same table
  Any<Initializer> embeddings_initializer = "uniform";  ///< initial tables
  Any<Regularizer> embeddings_regularizer{};            ///< penalty of the table, added to the loss
  Any<Constraint> embeddings_constraint{};              ///< projects the table after each update
  std::string reverse_dtype{};                          ///< dtype of the reverse product; "": the compute dtype
  std::optional<double> logit_soft_cap{};  ///< limits reverse outputs y to cap tanh(y / cap), above 0; default: none
  std::string name{};     ///< name of the layer; "": automatic ("reversible_embedding", "reversible_embedding_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

struct ReversibleEmbeddingCallOptions {
  bool reverse = false;            ///< true: (..., output_dim) to scores (..., input_dim)
  std::optional<bool> training{};  ///< as in CallOptions
};

/// Embedding that also projects back to its inputs: `embedding(tokens)`, then `embedding(hidden, {.reverse = true})`
/// for the scores of a language model. Weights: embeddings (input_dim, output_dim); without tie_weights,
/// reverse_embeddings (output_dim, input_dim).
class MEZZO_API ReversibleEmbedding : public Layer {
 public:
  /// A ValueError if input_dim or output_dim is below 1 or logit_soft_cap isn't above 0; a NameError for an unknown
  /// reverse_dtype, a DTypeError for one that isn't floating.
  explicit ReversibleEmbedding(ReversibleEmbeddingOptions options = {});

  /// Positional: `ReversibleEmbedding(20000, 128)`.
  template <class I, detail::IfInteger<I> = 0, class J, detail::IfInteger<J> = 0>
  explicit ReversibleEmbedding(I input_dim, J output_dim, ReversibleEmbeddingOptions options = {})
      : ReversibleEmbedding(detail::positional(
            "ReversibleEmbedding", options.name, "output_dim", &ReversibleEmbeddingOptions::output_dim,
            static_cast<std::int64_t>(output_dim),
            detail::positional("ReversibleEmbedding", options.name, "input_dim", &ReversibleEmbeddingOptions::input_dim,
                               static_cast<std::int64_t>(input_dim), options))) {}

  /// Token ids (...) to vectors (..., output_dim); the other direction with `{.reverse = true}`.
  Value operator()(const Value& x, const ReversibleEmbeddingCallOptions& options = {});
  void build(const Shape& input) override;

  /// Returns the table. Empty until the layer is built.
  const Variable& embeddings() const { return embeddings_; }

  Values call_with(const std::string& arguments, const Values& xs, const CallOptions& options) override;

 protected:
  /// A ShapeError for a reverse input whose last axis isn't output_dim.
  Value call(const Value& x) override;
  std::string call_arguments() const override;

 private:
  ReversibleEmbeddingOptions options_;
  bool reverse_ = false;  // value of the running call
  Variable embeddings_{"embeddings"};
  Variable reverse_embeddings_{"reverse_embeddings"};
};

}  // namespace mezzo
