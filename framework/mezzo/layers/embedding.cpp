#include <mezzo/layers/embedding.hpp>

#include <mezzo/nn/checks.hpp>

namespace mezzo {

Embedding::Embedding(EmbeddingOptions options) : Layer("Embedding", options), options_(std::move(options)) {
  detail::require_positive(label(), "input_dim", options_.input_dim);
  detail::require_positive(label(), "output_dim", options_.output_dim);
}

void Embedding::build(const Shape&) {
  add_weight(embeddings_, {.shape = {options_.input_dim, options_.output_dim},
                           .initializer = options_.embeddings_initializer,
                           .file_name = "weight"});
}

Value Embedding::call(const Value& x) {
  return gather(embeddings_, is_floating(x.dtype()) ? cast(x, DType::int32) : x);
}

}  // namespace mezzo
