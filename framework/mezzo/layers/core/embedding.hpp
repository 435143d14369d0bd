#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct EmbeddingOptions {
  std::int64_t input_dim = 0;                           ///< required; number of rows of the table, at least 1
  std::int64_t output_dim = 0;                          ///< required; size of a row, at least 1
  Any<Initializer> embeddings_initializer = "uniform";  ///< initial table
  Any<Regularizer> embeddings_regularizer{};            ///< penalty of the table, added to the loss
  Any<Constraint> embeddings_constraint{};              ///< projects the table after each update
  bool mask_zero = false;           ///< true: 0 is padding, and the output has a mask that is false there
  std::optional<Tensor> weights{};  ///< initial table (input_dim, output_dim); overrides embeddings_initializer
  std::string name{};               ///< name of the layer; "": automatic ("embedding", "embedding_1")
  Policy dtype{};                   ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;            ///< false: training does not change the weights
};

/// Rows of a table, selected by integers in [0, input_dim): (...) becomes (..., output_dim). Float inputs are truncated
/// to int32 first, as in Keras. Only the selected rows are cast to the compute dtype, not the whole table. An index out
/// of range is a ValueError when the step runs, and nothing is updated. Weights: embeddings (input_dim, output_dim).
class MEZZO_API Embedding : public Layer {
 public:
  /// A ValueError if input_dim or output_dim is below 1, a ShapeError for weights of another shape.
  explicit Embedding(EmbeddingOptions options = {});

  /// Positional: `Embedding(20000, 128)`.
  template <class I, detail::IfInteger<I> = 0, class J, detail::IfInteger<J> = 0>
  explicit Embedding(I input_dim, J output_dim, EmbeddingOptions options = {})
      : Embedding(
            detail::positional("Embedding", options.name, "output_dim", &EmbeddingOptions::output_dim,
                               static_cast<std::int64_t>(output_dim),
                               detail::positional("Embedding", options.name, "input_dim", &EmbeddingOptions::input_dim,
                                                  static_cast<std::int64_t>(input_dim), options))) {}
  void build(const Shape& input) override;

  /// Returns the table, for output layers that share it (Press and Wolf, 2016):
  /// `matmul(x, layer.embeddings(), {.transpose_b = true})`. Empty until the layer is built.
  const Variable& embeddings() const { return embeddings_; }
  bool supports_masking() const override { return options_.mask_zero; }
  Values compute_mask(const Values& inputs, const Values& masks) const override;

 protected:
  Value call(const Value& x) override;

 private:
  EmbeddingOptions options_;
  Variable embeddings_{"embeddings"};
};

}  // namespace mezzo
