#pragma once

#include "ops/plain.hpp"

// matmul and convolution.
namespace mezzo_tests {

struct Product {
  const char* note;
  mezzo::Shape a, b;
  bool transpose_a = false, transpose_b = false;
};

inline mezzo::Tensor plain_matmul(const mezzo::Tensor& a, const mezzo::Tensor& b, bool transpose_a, bool transpose_b) {
  const mezzo::Shape &x = a.shape(), &y = b.shape();
  const std::int64_t depth = transpose_a ? x[x.size() - 2] : x.back();
  mezzo::Shape to(x.begin(), x.end() - 2);
  to.push_back(transpose_a ? x.back() : x[x.size() - 2]);
  to.push_back(transpose_b ? y[y.size() - 2] : y.back());
  mezzo::Tensor out(to, mezzo::DType::float64);
  for_each_index(to, [&](std::size_t flat, const mezzo::Shape& index) {
    mezzo::Shape left = index, right = index;  // at() drops leading axes that b hasn't
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t row = index[index.size() - 2], column = index.back();
      left[left.size() - 2] = transpose_a ? k : row;
      left.back() = transpose_a ? row : k;
      right[right.size() - 2] = transpose_b ? column : k;
      right.back() = transpose_b ? k : column;
      out.mutable_data<double>()[flat] += at(a, left) * at(b, right);
    }
  });
  return out;
}

inline OpRow matmul_row(const Product& product) {
  const bool ta = product.transpose_a, tb = product.transpose_b;
  return {.op = "matmul",
          .note = product.note,
          .call =
              [ta, tb](const mezzo::Values& v) {
                return mezzo::Values{mezzo::matmul(v[0], v[1], {.transpose_a = ta, .transpose_b = tb})};
              },
          .arguments = {{uniform(product.a, -1, 1, 1)}, {uniform(product.b, -1, 1, 2)}},
          .outputs = {Role::varied()},
          .plain = [ta, tb](const TensorList& v) { return TensorList{plain_matmul(v[0], v[1], ta, tb)}; },
          .differentiable = {0, 1},
          .depth = static_cast<double>(ta ? product.a[product.a.size() - 2] : product.a.back()),
          .exact_on_integers = true};
}

inline mezzo::Tensor biased_relu(const mezzo::Tensor& x, const mezzo::Tensor& bias) {
  return zip(x, bias, [](double a, double b) { return std::max(a + b, 0.0); });
}

// As the fuse passes make them.
inline OpRow fused_matmul_row(Role bias, std::int64_t rows = 7, std::int64_t depth = 33) {
  OpRow row =
      matmul_row({bias.is_varied() ? "with bias and relu" : "with a wide bias and relu", {rows, depth}, {depth, 18}});
  row.note += ", " + std::to_string(rows) + " rows of " + std::to_string(depth);
  row.call =
      inserted("matmul", {{"transpose_a", false}, {"transpose_b", false}, {"epilogue", mezzo::detail::Epilogue::relu}});
  row.arguments.push_back({uniform({18}, -1, 1, 3), bias});
  row.plain = [](const TensorList& v) { return TensorList{biased_relu(plain_matmul(v[0], v[1], false, false), v[2])}; };
  row.differentiable = {};
  row.internal = true;
  return row;
}

// As gradients of weights are computed: from low-precision operands straight to the accumulator's dtype.
inline OpRow widening_matmul_row() {
  OpRow row = matmul_row({"to the accumulation dtype", {19, 7}, {19, 5}, true, false});
  row.call = inserted_with_dtype("matmul", {{"transpose_a", true}, {"transpose_b", false}}, Role::accumulated());
  row.outputs = {Role::accumulated()};
  row.differentiable = {};
  row.internal = true;
  return row;
}

struct Convolution {
  const char* note;
  mezzo::Shape x, kernel;
  mezzo::Conv2DOpOptions options{};
  mezzo::Shape padding{0, 0, 0, 0};  // what the options come to
  mezzo::Shape strides{1, 1}, dilation{1, 1};

  mezzo::Attributes attributes() const {
    return {{"strides", strides}, {"padding", padding}, {"dilation", dilation}, {"groups", options.groups}};
  }
  mezzo::Shape output() const {
    mezzo::Shape out{x[0], 0, 0, kernel[3]};
    for (std::size_t i = 0; i < 2; ++i) {
      out[i + 1] =
          (x[i + 1] + padding[2 * i] + padding[2 * i + 1] - dilation[i] * (kernel[i] - 1) - 1) / strides[i] + 1;
    }
    return out;
  }
  double depth() const { return static_cast<double>(kernel[0] * kernel[1] * kernel[2]); }
};

// Calls visit(y, x, kernel) with the flat places of each product x * kernel that adds to y.
inline void for_each_product(const Convolution& c,
                             const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  const std::int64_t channels = c.kernel[2], filters = c.kernel[3] / c.options.groups;
  for_each_index(c.output(), [&](std::size_t y, const mezzo::Shape& at_y) {
    for_each_index({c.kernel[0], c.kernel[1], channels}, [&](std::size_t k, const mezzo::Shape& at_k) {
      const std::int64_t row = at_y[1] * c.strides[0] + at_k[0] * c.dilation[0] - c.padding[0];
      const std::int64_t column = at_y[2] * c.strides[1] + at_k[1] * c.dilation[1] - c.padding[2];
      if (row < 0 || row >= c.x[1] || column < 0 || column >= c.x[2]) return;
      const std::int64_t channel = at_y[3] / filters * channels + at_k[2];
      visit(static_cast<std::int64_t>(y), ((at_y[0] * c.x[1] + row) * c.x[2] + column) * c.x[3] + channel,
            static_cast<std::int64_t>(k) * c.kernel[3] + at_y[3]);
    });
  });
}

inline mezzo::Tensor plain_conv2d(const Convolution& c, const mezzo::Tensor& x, const mezzo::Tensor& kernel) {
  mezzo::Tensor out(c.output(), mezzo::DType::float64);
  double* y = out.mutable_data<double>();
  for_each_product(c, [&](std::int64_t to, std::int64_t i, std::int64_t k) {
    y[to] += x.data<double>()[i] * kernel.data<double>()[k];
  });
  return out;
}

inline OpRow conv2d_row(const Convolution& c) {
  return {.op = "conv2d",
          .note = c.note,
          .call = [c](const mezzo::Values& v) { return mezzo::Values{mezzo::conv2d(v[0], v[1], c.options)}; },
          .arguments = {{uniform(c.x, -1, 1, 1)}, {uniform(c.kernel, -1, 1, 2)}},
          .outputs = {Role::varied()},
          .plain = [c](const TensorList& v) { return TensorList{plain_conv2d(c, v[0], v[1])}; },
          .differentiable = {0, 1},
          .depth = c.depth(),
          .exact_on_integers = true};
}

inline OpRow fused_conv2d_row(const Convolution& c, Role bias) {
  OpRow row = conv2d_row(c);
  row.note += bias.is_varied() ? " with bias and relu" : " with a wide bias and relu";
  mezzo::Attributes attributes = c.attributes();
  attributes.set("epilogue", mezzo::detail::Epilogue::relu);
  row.call = inserted("conv2d", attributes);
  row.arguments.push_back({uniform({c.kernel[3]}, -1, 1, 3), bias});
  row.plain = [c](const TensorList& v) { return TensorList{biased_relu(plain_conv2d(c, v[0], v[1]), v[2])}; };
  row.differentiable = {};
  row.internal = true;
  return row;
}

inline OpRow conv2d_gradient_row(const Convolution& c, bool of_kernel, Role to) {
  const mezzo::Shape& shape = of_kernel ? c.kernel : c.x;
  mezzo::Attributes attributes = c.attributes();
  attributes.set("shape", shape);
  const std::string op = of_kernel ? "conv2d_kernel_gradient" : "conv2d_input_gradient";
  const auto plain = [c, of_kernel, shape](const TensorList& v) {
    mezzo::Tensor out(shape, mezzo::DType::float64);
    double* sums = out.mutable_data<double>();
    for_each_product(c, [&](std::int64_t y, std::int64_t x, std::int64_t k) {
      if (of_kernel) {
        sums[k] += v[0].data<double>()[x] * v[1].data<double>()[y];
      } else {
        sums[x] += v[0].data<double>()[y] * v[1].data<double>()[k];
      }
    });
    return TensorList{out};
  };
  const mezzo::Tensor x = uniform(c.x, -1, 1, 1), kernel = uniform(c.kernel, -1, 1, 2),
                      g = uniform(c.output(), -1, 1, 3);
  const mezzo::Shape y = c.output();
  const auto positions = static_cast<double>(y[0] * y[1] * y[2]);
  return {.op = op,
          .note = std::string(c.note) + (to.is_varied() ? "" : ", to the accumulation dtype"),
          .call = inserted_with_dtype(op, attributes, to),
          .arguments = {{of_kernel ? x : g}, {of_kernel ? g : kernel}},
          .outputs = {to},
          .plain = plain,
          .differentiable = of_kernel || !to.is_varied() ? std::vector<std::size_t>{} : std::vector<std::size_t>{0, 1},
          .depth = of_kernel ? positions : static_cast<double>(c.kernel[0] * c.kernel[1] * c.kernel[3]),
          .exact_on_integers = true,
          .internal = true};
}

inline std::vector<OpRow> product_rows() {
  std::vector<OpRow> rows;
  for (const Product& product :
       {Product{"of matrices", {5, 7}, {7, 6}}, Product{"of a transposed one", {7, 5}, {7, 6}, true, false},
        Product{"by a transposed one", {5, 7}, {6, 7}, false, true},
        Product{"of two transposed ones", {7, 5}, {6, 7}, true, true}, Product{"of batches", {2, 3, 4}, {2, 4, 5}},
        Product{"of transposed batches", {2, 4, 3}, {2, 5, 4}, true, true},
        Product{"of a batch by a matrix", {2, 3, 4}, {4, 5}},
        Product{"of a batch by a transposed matrix", {2, 3, 4}, {5, 4}, false, true},
        Product{"deep", {3, 257}, {257, 17}}, Product{"of a row by a large matrix", {1, 257}, {257, 256}},
        Product{"to one number", {1, 3}, {3, 1}}, Product{"without rows", {0, 7}, {7, 6}},
        Product{"without depth", {5, 0}, {0, 6}}, Product{"without columns", {5, 7}, {7, 0}},
        Product{"of no batches", {0, 3, 4}, {0, 4, 5}},
        Product{"of transposed ones without depth", {0, 5}, {6, 0}, true, true}}) {
    rows.push_back(matmul_row(product));
  }
  rows.push_back(fused_matmul_row(Role::varied()));
  rows.push_back(fused_matmul_row(Role::accumulated()));
  rows.push_back(fused_matmul_row(Role::varied(), 7, 0));
  rows.push_back(fused_matmul_row(Role::accumulated(), 0, 33));
  rows.push_back(widening_matmul_row());
  const Convolution convolutions[] = {
      {"plain", {2, 6, 5, 3}, {3, 2, 3, 4}},
      {"same, of stride 2", {2, 6, 5, 3}, {3, 3, 3, 4}, {.strides = 2, .padding = "same"}, {0, 1, 1, 1}, {2, 2}},
      {"of strides 2 and 1, padded",
       {1, 5, 6, 2},
       {3, 3, 2, 3},
       {.strides = {2, 1}, .padding = {1, 2}},
       {1, 1, 2, 2},
       {2, 1}},
      {"dilated", {1, 7, 8, 2}, {3, 2, 2, 3}, {.dilation_rate = {2, 3}}, {0, 0, 0, 0}, {1, 1}, {2, 3}},
      {"in 2 groups", {2, 5, 5, 4}, {3, 3, 2, 6}, {.padding = 1, .groups = 2}, {1, 1, 1, 1}},
      {"of 1 by 1", {2, 4, 4, 5}, {1, 1, 5, 7}},
      {"depthwise", {1, 5, 5, 3}, {3, 3, 1, 3}, {.padding = "same", .groups = 3}, {1, 1, 1, 1}},
      {"of 1 by 1, of many pixels", {2, 16, 17, 8}, {1, 1, 8, 9}},
      {"of one channel", {2, 6, 9, 1}, {3, 3, 1, 9}, {.padding = 1}, {1, 1, 1, 1}},
      {"depthwise, of stride 2",
       {2, 8, 9, 5},
       {5, 5, 1, 5},
       {.strides = 2, .padding = 2, .groups = 5},
       {2, 2, 2, 2},
       {2, 2}},
      {"without images", {0, 6, 5, 3}, {3, 2, 3, 4}},
      {"without channels", {2, 4, 5, 0}, {3, 2, 0, 4}},
      {"without filters", {2, 4, 5, 3}, {3, 2, 3, 0}}};
  for (const Convolution& c : convolutions) {
    rows.push_back(conv2d_row(c));
    rows.push_back(fused_conv2d_row(c, Role::varied()));
    rows.push_back(fused_conv2d_row(c, Role::accumulated()));
    for (const bool of_kernel : {false, true}) {
      rows.push_back(conv2d_gradient_row(c, of_kernel, Role::varied()));
      rows.push_back(conv2d_gradient_row(c, of_kernel, Role::accumulated()));
    }
  }
  // What Winograd's algorithm is for: its sums are off twice as far as others, at worst three times, and integers don't
  // stay whole.
  const Convolution tiles{"of many tiles", {2, 16, 15, 16}, {3, 3, 16, 16}, {.padding = "same"}, {1, 1, 1, 1}};
  for (OpRow row : {conv2d_row(tiles), conv2d_gradient_row(tiles, false, Role::varied()),
                    conv2d_gradient_row(tiles, true, Role::accumulated())}) {
    row.depth *= 9;
    row.exact_on_integers = false;
    rows.push_back(row);
  }
  return rows;
}

inline std::vector<Refusal> product_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const auto gradient = [](const char* op, const Tensor& a, const Tensor& b, const mezzo::Shape& shape) {
    mezzo::Attributes attributes = Convolution{"", {}, {}}.attributes();
    attributes.set("shape", shape);
    attributes.set("dtype", mezzo::DType::float32);
    return [op, a, b, attributes] { inserted(op, attributes)({a, b}); };
  };
  std::vector<Refusal> out{
      refusal<ShapeError>("matmul", "[matmul] input axis -1 must be 4 (rows of the second operand); got shape (2, 3)",
                          [] {
                            mezzo::matmul(Tensor({2, 3}), Tensor({4, 5}));
                          }),
      refusal<ShapeError>("matmul", "[matmul] input axis -2 must be 4 (rows of the second operand); got shape (2, 3)",
                          [] {
                            mezzo::matmul(Tensor({2, 3}), Tensor({4, 5}), {.transpose_a = true});
                          }),
      refusal<ShapeError>("matmul", "[matmul] operands must have at least 1 axis; got shapes (2, 3) and ()",
                          [] {
                            mezzo::matmul(Tensor({2, 3}), Tensor(mezzo::Shape{}));
                          }),
      refusal<ShapeError>("matmul", "[matmul] shapes must be equal or 1 on axis -1; got (2,) and (3,)",
                          [] {
                            mezzo::matmul(Tensor({2, 3, 4}), Tensor({3, 4, 5}));
                          }),
      refusal<ShapeError>("conv2d",
                          "[conv2d] input 0 must have rank 4 (batch, height, width, channels); got shape (8, 8, 3)",
                          [] {
                            mezzo::conv2d(Tensor({8, 8, 3}), Tensor({3, 3, 3, 4}));
                          }),
      refusal<ShapeError>(
          "conv2d",
          "[conv2d] input 1 must have rank 4 (height, width, channels / groups, filters); got shape (3, 3, 3)",
          [] {
            mezzo::conv2d(Tensor({1, 8, 8, 3}), Tensor({3, 3, 3}));
          }),
      refusal<ShapeError>("conv2d", "[conv2d] input axis -1 must be 3 (kernel channels); got shape (1, 8, 8, 1)",
                          [] {
                            mezzo::conv2d(Tensor({1, 8, 8, 1}), Tensor({3, 3, 3, 4}));
                          }),
      refusal<ShapeError>("conv2d",
                          "[conv2d] input axis -1 must be 6 (kernel channels times groups); got shape (1, 8, 8, 3)",
                          [] {
                            mezzo::conv2d(Tensor({1, 8, 8, 3}), Tensor({3, 3, 3, 4}), {.groups = 2});
                          }),
      refusal<ShapeError>("conv2d", "[conv2d] filters must be a multiple of groups (3); got 4",
                          [] {
                            mezzo::conv2d(Tensor({1, 8, 8, 3}), Tensor({3, 3, 1, 4}), {.groups = 3});
                          }),
      refusal<ShapeError>("conv2d", "[conv2d] input axis 2 must be at least 3 (kernel 3); got shape (1, 8, 2, 3)",
                          [] {
                            mezzo::conv2d(Tensor({1, 8, 2, 3}), Tensor({3, 3, 3, 4}));
                          }),
      refusal<ShapeError>("conv2d", "[conv2d] kernel axis 0 must be at least 1; got shape (0, 3, 3, 4)",
                          [] {
                            mezzo::conv2d(Tensor({1, 8, 8, 3}), Tensor({0, 3, 3, 4}));
                          }),
      refusal<mezzo::ValueError>("conv2d", "[conv2d] groups must be at least 1; got 0",
                                 [] {
                                   mezzo::conv2d(Tensor({1, 8, 8, 3}), Tensor({3, 3, 3, 4}), {.groups = 0});
                                 }),
      refusal<mezzo::ValueError>("conv2d", "[conv2d] strides must be one or two numbers of at least 1; got (0,)",
                                 [] {
                                   mezzo::conv2d(Tensor({1, 8, 8, 3}), Tensor({3, 3, 3, 4}), {.strides = 0});
                                 }),
      refusal<mezzo::NameError>("conv2d", "unknown padding \"full\"; valid names: same, valid (or numbers of pixels)",
                                [] { mezzo::conv2d(Tensor(), Tensor(), {.padding = "full"}); })};
  out.push_back(refusal<ShapeError>(
      "conv2d_input_gradient", "[conv2d_input_gradient] the cotangent must have shape (1, 6, 6, 4); got (1, 8, 8, 4)",
      gradient("conv2d_input_gradient", Tensor({1, 8, 8, 4}), Tensor({3, 3, 2, 4}), {1, 8, 8, 2})));
  out.push_back(refusal<ShapeError>(
      "conv2d_kernel_gradient", "[conv2d_kernel_gradient] the cotangent must have shape (1, 6, 6, 4); got (1, 6, 6, 3)",
      gradient("conv2d_kernel_gradient", Tensor({1, 8, 8, 2}), Tensor({1, 6, 6, 3}), {3, 3, 2, 4})));
  return out;
}

}  // namespace mezzo_tests
