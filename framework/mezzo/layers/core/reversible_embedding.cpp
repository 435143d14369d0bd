#include <mezzo/layers/core/reversible_embedding.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/weight_product.hpp>

namespace mezzo {

ReversibleEmbedding::ReversibleEmbedding(ReversibleEmbeddingOptions options)
    : Layer("ReversibleEmbedding", options), options_(std::move(options)) {
  detail::require_positive(label(), "input_dim", options_.input_dim);
  detail::require_positive(label(), "output_dim", options_.output_dim);
  if (options_.logit_soft_cap) detail::require_above(label(), "logit_soft_cap", *options_.logit_soft_cap, 0);
  if (options_.reverse_dtype.empty()) return;
  const DType dtype = dtype_from_name(options_.reverse_dtype);
  if (!is_floating(dtype)) fail<DTypeError>(label(), "reverse_dtype must be floating; got {}", dtype);
}

void ReversibleEmbedding::build(const Shape&) {
  add_weight(embeddings_, {.shape = {options_.input_dim, options_.output_dim},
                           .initializer = options_.embeddings_initializer,
                           .regularizer = options_.embeddings_regularizer,
                           .constraint = options_.embeddings_constraint,
                           .file_name = "weight",
                           .quantizable = {.inputs = {1}, .table = true}});
  detail::allow_adapters(embeddings_, {options_.input_dim}, options_.output_dim, true);
  if (options_.tie_weights) return;
  add_weight(reverse_embeddings_, {.shape = {options_.output_dim, options_.input_dim},
                                   .initializer = options_.embeddings_initializer,
                                   .quantizable = {.inputs = {0}}});
}

Value ReversibleEmbedding::operator()(const Value& x, const ReversibleEmbeddingCallOptions& options) {
  const ScopedValue<bool> call(reverse_, options.reverse);
  return Layer::operator()(Values{x}, {.training = options.training}).front();
}

Value ReversibleEmbedding::call(const Value& x) {
  if (!reverse_) return detail::table_rows(is_floating(x.dtype()) ? cast(x, DType::int32) : x, embeddings_);
  detail::require_last_axis(label(), x.shape(), options_.output_dim, "output_dim");
  const detail::CastScope precise =
      autocast(options_.reverse_dtype.empty() ? Policy() : Policy(options_.reverse_dtype));
  const Value scores =
      options_.tie_weights ? detail::table_product(x, embeddings_) : detail::weight_product(x, reverse_embeddings_);
  if (!options_.logit_soft_cap) return scores;
  return tanh(scores / *options_.logit_soft_cap) * *options_.logit_soft_cap;
}

std::string ReversibleEmbedding::call_arguments() const { return reverse_ ? "{\"reverse\": true}" : ""; }

Values ReversibleEmbedding::call_with(const std::string& arguments, const Values& xs, const CallOptions& options) {
  const detail::Json json = detail::parse_config(arguments, label());
  const bool reverse = detail::read_bool(detail::member(json, "reverse", label()), label() + " reverse");
  if (xs.size() != 1) fail<ValueError>(label(), "takes one input; got {}", xs.size());
  return {(*this)(xs[0], {.reverse = reverse, .training = options.training})};
}

}  // namespace mezzo
