#pragma once

#include "ops/batch_norm.hpp"
#include "ops/products.hpp"

// Rows of convolutions that read the input of a batch norm, and of the norm's statistics.
namespace mezzo_tests {

// The outputs of a fused batch norm without the first.
inline OpRow batch_norm_statistics_row(const mezzo::Shape& shape, bool training) {
  OpRow row = fused_batch_norm_row(shape, training, false, false);
  row.op = "batch_norm_statistics";
  mezzo::Attributes attributes{{"epsilon", norm_epsilon},
                               {"momentum", norm_momentum},
                               {"training", training},
                               {"epilogue", mezzo::detail::Epilogue::relu},
                               {"shift", true}};
  row.call = inserted("batch_norm_statistics", attributes);
  row.outputs.erase(row.outputs.begin());
  row.plain = [of_norm = row.plain](const TensorList& v) {
    TensorList out = of_norm(v);
    out.erase(out.begin());
    return out;
  };
  return row;
}

// relu, or relu6 if `limited`, of (x - mean) gamma inverse + shift. Operands 2 to 5: gamma, mean, inverse, shift.
inline mezzo::Tensor plain_normalized(const TensorList& v, bool limited) {
  const double most = limited ? 6 : std::numeric_limits<double>::infinity();
  const auto times = [](double a, double b) { return a * b; };
  const mezzo::Tensor centred = zip(v[0], v[3], [](double x, double mean) { return x - mean; });
  const mezzo::Tensor y =
      zip(zip(zip(centred, v[4], times), v[2], times), v[5], [](double a, double b) { return a + b; });
  return map(y, [most](double number) { return std::min(std::max(number, 0.0), most); });
}

// `row` of a convolution, or of its kernel gradient, with normalized x.
inline OpRow normalized_row(OpRow row, const std::string& op, mezzo::Attributes attributes, bool limited, Role to) {
  row.op = op;
  row.note += limited ? ", relu6" : ", relu";
  if (limited) attributes.set("max_value", 6.0);
  row.call = op == "normalized_conv2d" ? inserted(op, attributes) : inserted_with_dtype(op, attributes, to);
  const mezzo::Shape channels{row.arguments[0].numbers.shape().back()};
  // Limits are well inside of the range of y.
  row.arguments.push_back({uniform(channels, 1, 2, 4), Role::accumulated()});
  row.arguments.push_back({uniform(channels, -1, 1, 5), Role::accumulated()});
  row.arguments.push_back({uniform(channels, 2, 3, 6), Role::accumulated()});
  row.arguments.push_back({uniform(channels, 0, 4, 7), Role::accumulated()});
  row.plain = [plain = row.plain, limited](TensorList v) {
    v[0] = plain_normalized(v, limited);
    return plain({v[0], v[1]});
  };
  row.differentiable = {};
  row.exact_on_integers = false;
  row.internal = true;
  row.depth *= 16;  // x is normalized before, to numbers of up to 16
  return row;
}

// Gradients of a 1 x 1 convolution and of the norm behind it.
inline OpRow pointwise_norm_gradient_row(const Convolution& c, bool training, bool limited) {
  OpRow row = fused_batch_norm_gradient_row(c.output(), training, false, true, limited);
  row.op = "pointwise_norm_gradient";
  row.note += std::string(", ") + c.note;
  mezzo::Attributes attributes{{"training", training}, {"epilogue", mezzo::detail::Epilogue::relu}, {"shift", true}};
  if (limited) attributes.set("max_value", 6.0);
  row.call = inserted(row.op, attributes);
  row.arguments.push_back({uniform(c.x, -1, 1, 7)});
  row.arguments.push_back({uniform(c.kernel, -1, 1, 8)});
  row.outputs.insert(row.outputs.begin() + 1, Role::accumulated());
  row.plain = [c, of_norm = row.plain](const TensorList& v) {
    const TensorList norm = of_norm(v);
    mezzo::Tensor dx(c.x, mezzo::DType::float64), dkernel(c.kernel, mezzo::DType::float64);
    for_each_product(c, [&](std::int64_t y, std::int64_t x, std::int64_t k) {
      const double dy = norm[0].data<double>()[y];
      dx.mutable_data<double>()[x] += dy * v[7].data<double>()[k];
      dkernel.mutable_data<double>()[k] += dy * v[6].data<double>()[x];
    });
    return TensorList{dx, dkernel, norm[1], norm[2]};
  };
  row.depth *= 16;  // dy has numbers of up to 8, and is a sum itself
  return row;
}

inline std::vector<OpRow> normalized_convolution_rows() {
  std::vector<OpRow> rows;
  const Convolution convolutions[] = {
      {"of 1 by 1", {2, 4, 4, 5}, {1, 1, 5, 7}},
      {"of 1 by 1, of many pixels", {2, 17, 17, 8}, {1, 1, 8, 9}},
      {"depthwise", {2, 5, 7, 3}, {3, 3, 1, 3}, {.padding = "same", .groups = 3}, {1, 1, 1, 1}},
      {"depthwise, of stride 2",
       {2, 8, 9, 5},
       {5, 5, 1, 5},
       {.strides = 2, .padding = 2, .groups = 5},
       {2, 2, 2, 2},
       {2, 2}},
      {"plain", {1, 6, 5, 3}, {3, 2, 3, 4}},
      {"without images", {0, 6, 5, 3}, {1, 1, 3, 4}}};
  for (const bool limited : {false, true}) {
    for (const Convolution& c : convolutions) {
      rows.push_back(normalized_row(conv2d_row(c), "normalized_conv2d", c.attributes(), limited, Role::varied()));
      mezzo::Attributes attributes = c.attributes();
      attributes.set("shape", c.kernel);
      for (const Role to : {Role::varied(), Role::accumulated()}) {
        rows.push_back(normalized_row(conv2d_gradient_row(c, true, to), "normalized_conv2d_kernel_gradient", attributes,
                                      limited, to));
      }
    }
  }
  for (const bool training : {false, true}) {
    for (const mezzo::Shape& shape : {mezzo::Shape{6, 3}, mezzo::Shape{2, 3, 4, 17}, mezzo::Shape{0, 3}}) {
      rows.push_back(batch_norm_statistics_row(shape, training));
    }
  }
  for (const Convolution& c :
       {Convolution{"few pixels", {2, 4, 4, 5}, {1, 1, 5, 7}}, Convolution{"many pixels", {2, 17, 17, 8}, {1, 1, 8, 9}},
        Convolution{"without images", {0, 6, 5, 3}, {1, 1, 3, 4}}}) {
    for (const bool flag : {false, true}) {
      rows.push_back(pointwise_norm_gradient_row(c, true, flag));
      rows.push_back(pointwise_norm_gradient_row(c, flag, true));
    }
  }
  return rows;
}

inline std::vector<Refusal> normalized_convolution_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const Tensor x({2, 4, 4, 5}), kernel({1, 1, 5, 7}), g({2, 4, 4, 7}), of_five({5}), of_four({4});
  const mezzo::Attributes attributes = Convolution{"", {}, {}}.attributes();
  mezzo::Attributes gradient = attributes;
  gradient.set("shape", kernel.shape());
  gradient.set("dtype", mezzo::DType::float32);
  return {
      refusal<ShapeError>("normalized_conv2d", "[normalized_conv2d] input 3 must be float32 (5,); got float32 (4,)",
                          [=] {
                            inserted("normalized_conv2d", attributes)({x, kernel, of_five, of_four, of_five, of_five});
                          }),
      refusal<ShapeError>(
          "normalized_conv2d_kernel_gradient",
          "[normalized_conv2d_kernel_gradient] input 5 must be float32 (5,); got float32 (4,)",
          [=] {
            inserted("normalized_conv2d_kernel_gradient", gradient)({x, g, of_five, of_five, of_five, of_four});
          }),
      refusal<ShapeError>("batch_norm_statistics",
                          "[batch_norm_statistics] input axis -1 must be 4 (size of beta); got shape (2, 4, 4, 5)",
                          [=] {
                            inserted("batch_norm_statistics", {})({x, of_five, of_four, of_five, of_five});
                          }),
      refusal<ShapeError>("pointwise_norm_gradient",
                          "[pointwise_norm_gradient] input 1 must be float32 (2, 4, 4, 7) (the convolution's output); "
                          "got float32 (2, 4, "
                          "4, 6)",
                          [=] {
                            const Tensor six({6}), y({2, 4, 4, 6});
                            inserted("pointwise_norm_gradient",
                                     {{"training", true}, {"shift", true}})({y, y, six, six, six, six, x, kernel});
                          })};
}

}  // namespace mezzo_tests
