#include <algorithm>
#include <array>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/attributes_without.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/ops/conv2d.hpp>
#include <mezzo/ops/conv2d_attributes.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/kernel_convolution.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/quantized_conv2d.hpp>
#include <mezzo/ops/spatial_axes.hpp>

namespace mezzo {
namespace {

/// Output shape for an image batch of shape x and a kernel, both of rank 4.
Shape output_shape(const OpCall& call, const Shape& x, const Shape& kernel) {
  const auto groups = call.attributes.get<std::int64_t>("groups");
  if (x[3] != kernel[2] * groups) {
    fail<ShapeError>(call.where, "input axis -1 must be {} (kernel channels{}); got shape {}", kernel[2] * groups,
                     groups > 1 ? " times groups" : "", x);
  }
  if (kernel[3] % groups != 0) {
    fail<ShapeError>(call.where, "filters must be a multiple of groups ({}); got {}", groups, kernel[3]);
  }
  const auto& strides = call.attributes.get<Shape>("strides");
  const auto& padding = call.attributes.get<Shape>("padding");
  const auto& dilation = call.attributes.get<Shape>("dilation");
  Shape out{x[0], 0, 0, kernel[3]};
  for (std::size_t i = 0; i < 2; ++i) {
    if (kernel[i] < 1) {
      fail<ShapeError>(call.where, "kernel axis {} must be at least 1; got shape {}", i, kernel);
    }
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    const std::int64_t room = x[i + 1] + padding[2 * i] + padding[2 * i + 1] - reach;
    if (room < 0) {
      fail<ShapeError>(call.where, "input axis {} must be at least {} (kernel {}); got shape {}", i + 1,
                       reach - padding[2 * i] - padding[2 * i + 1], kernel[i], x);
    }
    out[i + 1] = room / strides[i] + 1;
  }
  return out;
}

/// Format of the operands, value of the attribute "products".
constexpr const char* image_codes = "int8";

/// Checks the attribute "products" of a convolution or of the gradient for its input.
void check_products(const OpCall& call) {
  const std::string products = call.attributes.get_or<std::string>("products", image_codes);
  if (products != image_codes) fail_unknown(call.where, "products", products, std::array{image_codes});
  const auto groups = call.attributes.get<std::int64_t>("groups");
  if (call.attributes.has("products") && groups != 1) {
    fail<ValueError>(call.where, "products of int8 need 1 group; got {}", groups);
  }
}

std::vector<Spec> infer_conv2d(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_rank(call, 0, 4, "(batch, height, width, channels)");
  detail::require_rank(call, 1, 4, "(height, width, channels / groups, filters)");
  check_products(call);
  return {{output_shape(call, call.inputs[0].shape, call.inputs[1].shape), call.inputs[0].dtype}};
}

std::vector<Spec> infer_input_gradient(const OpCall& call) {
  auto shape = call.attributes.get<Shape>("shape");
  if (!shape.empty() && shape[0] < 0) shape[0] = call.inputs[0].shape[0];  // of a transposed convolution
  detail::require_cotangent(call, 0, output_shape(call, shape, call.inputs[1].shape));
  check_products(call);
  return {{shape, call.attributes.get_or("dtype", call.inputs[0].dtype)}};
}

std::vector<Spec> infer_kernel_gradient(const OpCall& call) {
  const auto& shape = call.attributes.get<Shape>("shape");
  detail::require_cotangent(call, 1, output_shape(call, call.inputs[0].shape, shape));
  return {{shape, call.attributes.get<DType>("dtype")}};
}

/// True if the gradient for the input x is a convolution of the cotangents with the turned kernel whose products of
/// int8 are faster.
bool takes_int8_gradient(const Attributes& attributes, const Value& x, const Shape& kernel) {
  return detail::turned_padding(attributes, kernel) &&
         detail::takes_int8_convolution({kernel[0], kernel[1], kernel[3], kernel[2]}, 1, x.shape()[1] * x.shape()[2]);
}

Values conv2d_gradient(const GradientContext& context) {
  const Value g = detail::as(context.cotangent(), context.input(0).dtype());
  Values out(context.input_count());
  const Attributes plain = detail::without(context.attributes(), {"products"});
  const bool int8 =
      context.attributes().has("products") && takes_int8_gradient(plain, context.input(0), context.input(1).shape());
  const Op* const gradients[] = {&ops::conv2d_input_gradient, &ops::conv2d_kernel_gradient};
  const Value operands[2][2] = {{g, context.input(1)}, {context.input(0), g}};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!context.needs(i)) continue;
    out[i] = insert_one(*gradients[i], {operands[i][0], operands[i][1]},
                        detail::with(i == 0 && int8 ? context.attributes() : plain,
                                     {{"shape", context.input(i).shape()}, {"dtype", context.dtype(i)}}));
  }
  return out;
}

// The op is linear in both operands: as a transposed convolution, g is its input and conv2d its gradient.
Values input_gradient_gradient(const GradientContext& context) {
  const Value g = detail::as(context.cotangent(), context.input(0).dtype());
  const Attributes& all = context.attributes();
  Attributes attributes;
  for (const char* name : {"strides", "padding", "dilation"}) attributes.set(name, all.get<Shape>(name));
  attributes.set("groups", all.get<std::int64_t>("groups"));
  Values out(2);
  if (context.needs(0)) out[0] = insert_one(ops::conv2d, {g, context.input(1)}, attributes);
  if (context.needs(1)) {
    out[1] = insert_one(ops::conv2d_kernel_gradient, {g, context.input(0)},
                        detail::with(attributes, {{"shape", context.input(1).shape()}, {"dtype", context.dtype(1)}}));
  }
  return out;
}

}  // namespace

Op detail::define_conv2d() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::promote, Cast::keep};
  op.cast.floats_only = true;
  op.cast.by_first = true;
  op.infer = infer_conv2d;
  op.gradient = conv2d_gradient;
  return op;
}

Op detail::define_conv2d_input_gradient() {
  Op op;
  op.cast.operands = {Cast::promote};
  op.cast.floats_only = true;
  op.cast.by_first = true;
  op.gradient = input_gradient_gradient;
  op.infer = infer_input_gradient;
  return op;
}

Op detail::define_conv2d_kernel_gradient() {
  Op op;
  op.infer = infer_kernel_gradient;
  return op;
}

Attributes detail::conv2d_attributes(const Value& x, const Shape& kernel, const Conv2DOpOptions& options) {
  const std::string where = detail::current_label("conv2d");
  if (options.groups < 1) {
    fail<ValueError>(where, "groups must be at least 1; got {}", options.groups);
  }
  const Shape strides = options.strides.pair(where, "strides");
  const Shape dilation = options.dilation_rate.pair(where, "dilation_rate");
  Shape padding(4, 0);
  if (x.shape().size() == 4 && kernel.size() == 4) {
    padding = options.padding.resolve(where, {x.shape()[1].or_unknown(), x.shape()[2].or_unknown()},
                                      {kernel[0], kernel[1]}, strides, dilation);
  }
  return {{"strides", strides}, {"padding", padding}, {"dilation", dilation}, {"groups", options.groups}};
}

Value conv2d(const Value& x, const Value& kernel, const Conv2DOpOptions& options) {
  if (detail::has_open_size(x)) {
    return with_sizes([options](const Values& xs) -> Values { return {conv2d(xs[0], xs[1], options)}; }, {x, kernel},
                      detail::reach_of(kernel.shape(), options.dilation_rate))
        .front();
  }
  return insert_one(ops::conv2d, {x, kernel}, detail::conv2d_attributes(x, kernel.shape(), options));
}

Shape detail::conv2d_shape(const Value& x, const Shape& kernel, const Attributes& attributes) {
  const std::vector<Spec> specs{{x.shape(), DType::float32}, {kernel, DType::float32}};
  return infer_conv2d({specs, attributes, current_label("conv2d")}).front().shape;
}

bool detail::takes_int8_convolution(const Shape& kernel, std::int64_t groups, std::int64_t windows) {
  // Measured on Zen 4 against kernels of bfloat16: sums of 64 terms take 1.4 of their time, of 128 terms 0.9 and less.
  // The smallest images that were measured, with a gain, have 7 x 7 windows. Each image reads the whole packed kernel.
  constexpr std::int64_t fewest = 32, fewest_terms = 128;
  constexpr std::int64_t word = 4;  // codes that are multiplied together
  const auto suits = [](std::int64_t count) { return count >= fewest && count % word == 0; };
  const std::int64_t terms = window_terms(kernel);
  return groups == 1 && suits(kernel[2]) && suits(kernel[3]) && terms >= fewest_terms && terms <= most_window_terms &&
         windows >= fewest_int8_windows;
}

std::optional<Shape> detail::turned_padding(const Attributes& attributes, const Shape& kernel) {
  if (attributes.get<Shape>("strides") != Shape{1, 1}) return {};
  const auto& dilation = attributes.get<Shape>("dilation");
  Shape padding = attributes.get<Shape>("padding");
  for (std::size_t i = 0; i < padding.size(); ++i) {
    padding[i] = dilation[i / 2] * (kernel[i / 2] - 1) - padding[i];
    if (padding[i] < 0) return {};
  }
  return padding;
}

Value detail::conv2d_of_kernel(const Value& x, const Value& kernel, const Conv2DOpOptions& options) {
  const auto later = [options](const Values& xs) -> Values { return {conv2d_of_kernel(xs[0], xs[1], options)}; };
  if (has_open_size(x)) return with_sizes(later, {x, kernel}, reach_of(kernel.shape(), options.dilation_rate)).front();
  Attributes attributes = conv2d_attributes(x, kernel.shape(), options);
  const Shape shape = conv2d_shape(x, kernel.shape(), attributes);
  // The policy in force is known when the model is called.
  if (in_functional_graph()) return defer(later, {x, kernel}, {{shape, operand_dtype(ops::conv2d, x)}}).front();
  const bool int8 = !casts_disabled() && current_policy().products() != ProductFormat::same &&
                    takes_int8_convolution(kernel.shape(), options.groups, shape[1] * shape[2]);
  if (int8) attributes.set("products", std::string(image_codes));
  return insert_one(ops::conv2d, {x, kernel}, std::move(attributes));
}

}  // namespace mezzo
