#include <mezzo/layers/head_projection.hpp>

#include <mezzo/nn/checks.hpp>

namespace mezzo::detail {

void HeadProjection::add_weights(std::int64_t units) {
  const std::int64_t heads = options_.heads, size = options_.size;
  const Shape features = options_.from_heads ? Shape{units} : Shape{heads, size};
  add_weight(kernel_, {.shape = options_.from_heads ? Shape{heads, size, units} : Shape{units, heads, size},
                       .initializer = options_.kernel_initializer,
                       .file_name = "weight",
                       .file_axes = options_.from_heads ? Shape{2, 0, 1} : Shape{1, 2, 0},
                       .file_shape = options_.from_heads ? Shape{units, heads * size} : Shape{heads * size, units}});
  if (!options_.use_bias) return;
  add_weight(bias_,
             {.shape = features, .initializer = options_.bias_initializer, .file_shape = {element_count(features)}});
}

Value HeadProjection::project(const Value& x, std::int64_t out) {
  const Value y = matmul(x, reshape(kernel_, {x.shape().back(), out}));
  return options_.use_bias ? bias_add(y, reshape(bias_, {out})) : y;
}

Values HeadProjection::call_many(const Values& xs) {
  const std::int64_t width = options_.heads * options_.size;
  Shape shape = xs[0].shape();
  if (!options_.from_heads) {
    if (kernel_.filled()) require_last_axis(label(), shape, kernel_.shape()[0], "first axis of kernel");
    add_weights(shape.back());
    shape.back() = options_.heads;
    shape.push_back(options_.size);
    return {reshape(project(xs[0], width), shape)};
  }
  const std::int64_t units = options_.units > 0 ? options_.units : xs.at(1).shape().back();
  add_weights(units);
  shape.pop_back();
  shape.back() = width;
  return {project(reshape(xs[0], shape), units)};
}

}  // namespace mezzo::detail
