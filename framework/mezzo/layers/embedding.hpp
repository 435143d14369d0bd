#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `input_dim`: how many things there are to embed; `output_dim`: how many numbers each becomes. Both have to be given.
struct EmbeddingOptions {
  std::int64_t input_dim = 0;
  std::int64_t output_dim = 0;
  Any<Initializer> embeddings_initializer = "uniform";
  std::string name{};
  Policy dtype{};
  bool trainable = true;
};

/// The rows of a table that integers in [0, input_dim) name: (...) becomes (..., output_dim). Floats are truncated to
/// int32 first, as in Keras. Rows are taken from the table as it is stored and then cast; the table as a whole is not.
/// An index out of range is a ValueError when the step runs, and nothing is updated. Weights: embeddings (input_dim,
/// output_dim).
class Embedding : public Layer {
 public:
  /// A ValueError if input_dim or output_dim is below 1.
  explicit Embedding(EmbeddingOptions options = {});
  void build(const Shape& input) override;

  /// The table, for output layers that share it (Press and Wolf, 2016): `matmul(x, layer.embeddings(), {.transpose_b =
  /// true})`. Empty until the layer is built.
  const Variable& embeddings() const { return embeddings_; }

 protected:
  Value call(const Value& x) override;

 private:
  EmbeddingOptions options_;
  Variable embeddings_{"embeddings"};
};

}  // namespace mezzo
