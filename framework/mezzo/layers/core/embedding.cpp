#include <mezzo/layers/core/embedding.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/weight_product.hpp>

namespace mezzo {

Embedding::Embedding(EmbeddingOptions options) : Layer("Embedding", options), options_(std::move(options)) {
  detail::require_positive(label(), "input_dim", options_.input_dim);
  detail::require_positive(label(), "output_dim", options_.output_dim);
  const Shape table{options_.input_dim, options_.output_dim};
  if (options_.weights && options_.weights->shape() != table) {
    fail<ShapeError>(label(), "weights must have shape {}; got shape {}", table, options_.weights->shape());
  }
  if (options_.weights) options_.weights = options_.weights->owned();
}

void Embedding::build(const Shape&) {
  add_weight(embeddings_, {.shape = {options_.input_dim, options_.output_dim},
                           .initializer = options_.weights ? Any<Initializer>(Constant(*options_.weights))
                                                           : options_.embeddings_initializer,
                           .regularizer = options_.embeddings_regularizer,
                           .constraint = options_.embeddings_constraint,
                           .file_name = "weight",
                           .quantizable = {.inputs = {1}, .table = true}});
  detail::allow_adapters(embeddings_, {options_.input_dim}, options_.output_dim, true);
}

Values Embedding::compute_mask(const Values& inputs, const Values&) const {
  if (!options_.mask_zero) return {};
  return {not_equal(inputs.front(), 0)};
}

Value Embedding::call(const Value& x) {
  return detail::table_rows(is_floating(x.dtype()) ? cast(x, DType::int32) : x, embeddings_);
}

}  // namespace mezzo
