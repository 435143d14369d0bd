#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/position_layer.hpp>
#include <mezzo/layers/core/reversible_embedding.hpp>

namespace mezzo {

struct PositionEmbeddingOptions {
  std::int64_t sequence_length = 0;                 ///< required; number of positions, at least 1
  Any<Initializer> initializer = "glorot_uniform";  ///< initial table
  std::string name{};     ///< name of the layer; "": automatic ("position_embedding", "position_embedding_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// A learned vector for each position, of the shape of the input, (..., steps, features), to be added to it. As
/// keras_hub's layer of this name. Weight: embeddings (sequence_length, features).
class MEZZO_API PositionEmbedding : public detail::PositionLayer {
 public:
  /// A ValueError if sequence_length is below 1.
  explicit PositionEmbedding(PositionEmbeddingOptions options = {});

  /// Positional: `PositionEmbedding(512)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit PositionEmbedding(I sequence_length, PositionEmbeddingOptions options = {})
      : PositionEmbedding(detail::positional("PositionEmbedding", options.name, "sequence_length",
                                             &PositionEmbeddingOptions::sequence_length,
                                             static_cast<std::int64_t>(sequence_length), options)) {}
  void build(const Shape& input) override;

 protected:
  /// A ShapeError for an input of fewer than two axes, or with steps beyond sequence_length; a ValueError when the step
  /// runs for positions beyond it.
  Value call_at(const Value& x, const Value& positions, std::int64_t start_index) override;

 private:
  PositionEmbeddingOptions options_;
  Variable embeddings_{"embeddings"};
};

struct TokenAndPositionEmbeddingOptions {
  std::int64_t vocabulary_size = 0;  ///< required; number of tokens, at least 1
  std::int64_t sequence_length = 0;  ///< required; number of positions, at least 1
  std::int64_t embedding_dim = 0;    ///< required; size of the vectors, at least 1
  bool tie_weights = true;           ///< true: the reverse direction of the token embedding uses the same table
  Any<Initializer> embeddings_initializer = "uniform";  ///< initial tables
  std::string name{};     ///< name; "": automatic ("token_and_position_embedding", "token_and_position_embedding_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Sum of the embeddings of tokens (batch, steps) and of their positions: (batch, steps, embedding_dim). As keras_hub's
/// layer of this name. Weights: token_embedding/embeddings (vocabulary_size, embedding_dim), without tie_weights
/// token_embedding/reverse_embeddings, and position_embedding/embeddings (sequence_length, embedding_dim).
class MEZZO_API TokenAndPositionEmbedding : public detail::PositionLayer {
 public:
  /// A ValueError for a size below 1.
  explicit TokenAndPositionEmbedding(TokenAndPositionEmbeddingOptions options = {});

  /// Positional: `TokenAndPositionEmbedding(20000, 512, 128)`.
  template <class I, detail::IfInteger<I> = 0, class J, detail::IfInteger<J> = 0, class K, detail::IfInteger<K> = 0>
  explicit TokenAndPositionEmbedding(I vocabulary_size, J sequence_length, K embedding_dim,
                                     TokenAndPositionEmbeddingOptions options = {})
      : TokenAndPositionEmbedding(with(static_cast<std::int64_t>(vocabulary_size),
                                       static_cast<std::int64_t>(sequence_length),
                                       static_cast<std::int64_t>(embedding_dim), std::move(options))) {}
  void build(const Shape&) override {}

  /// The embedding of the tokens, for the reverse direction.
  ReversibleEmbedding& token_embedding() { return token_; }

 protected:
  Value call_at(const Value& x, const Value& positions, std::int64_t start_index) override;

 private:
  static TokenAndPositionEmbeddingOptions with(std::int64_t vocabulary_size, std::int64_t sequence_length,
                                               std::int64_t embedding_dim, TokenAndPositionEmbeddingOptions options);

  ReversibleEmbedding token_;
  PositionEmbedding position_;
};

}  // namespace mezzo
