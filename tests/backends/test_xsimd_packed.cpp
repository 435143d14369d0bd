#include "support/xsimd.hpp"

#include <cmath>
#include <limits>

#include <mezzo/compiler/packed_constants.hpp>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Finish {
  bool bias = true, residual = false, relu = false;
  double most = 0;  // of the ReLU; 0: no limit
};

const std::vector<Finish> finishes{{.bias = false},
                                   {},
                                   {.relu = true},
                                   {.residual = true},
                                   {.bias = false, .residual = true, .relu = true},
                                   {.residual = true, .relu = true, .most = 0.75}};

// A request with constant kernel and bias, its operands, and the results of the reference.
struct Case {
  KernelRequest request;
  std::vector<Tensor> inputs, expected;
};

Tensor finished(const Tensor& product, const Tensor* residual, const Finish& finish, DType dtype) {
  std::vector<float> numbers;
  const std::vector<double> sums = product.to_doubles();
  const std::vector<double> added = residual == nullptr ? std::vector<double>(sums.size()) : residual->to_doubles();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    double y = sums[i] + added[i];
    if (finish.relu && y < 0) y = 0;
    if (finish.most > 0 && y > finish.most) y = finish.most;
    numbers.push_back(static_cast<float>(y));
  }
  return Tensor(product.shape(), numbers).cast(dtype);
}

Case make_case(const std::string& op, Attributes attributes, const Tensor& x, const Tensor& kernel,
               std::int64_t channels, const Finish& finish) {
  std::vector<Tensor> inputs{x, kernel};
  if (finish.bias) inputs.push_back(random_tensor({channels}, DType::float32, 9));
  Case made{kernel_request(op, attributes, inputs), inputs, {}};
  std::vector<Tensor> wide;
  for (const Tensor& input : inputs) wide.push_back(input.cast(DType::float32));
  const Tensor product = run_reference(op, attributes, wide)[0];
  const Spec out = made.request.outputs[0];
  Tensor residual;
  if (finish.residual) residual = random_tensor(out.shape, out.dtype, 10);
  made.expected = {finished(product, finish.residual ? &residual : nullptr, finish, out.dtype)};
  made.request.constants = {{1, kernel}};
  if (finish.bias) made.request.constants.emplace(2, inputs[2]);
  if (finish.residual) {
    made.request.attributes.set("residual", true);
    made.request.inputs.push_back(out);
    made.inputs.push_back(residual);
  }
  if (finish.relu) made.request.attributes.set("epilogue", detail::Epilogue::relu);
  if (finish.most > 0) made.request.attributes.set("max_value", finish.most);
  return made;
}

Attributes geometry(const Shape& strides, const Shape& padding) {
  return {{"strides", strides}, {"padding", padding}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
}

Case convolution(const Shape& x, const Shape& kernel, const Attributes& attributes, const Finish& finish,
                 DType dtype = DType::float32) {
  return make_case("conv2d", attributes, random_tensor(x, dtype, 1), random_tensor(kernel, dtype, 2), kernel[3],
                   finish);
}

Case product(std::int64_t rows, std::int64_t depth, std::int64_t columns, bool transposed, const Finish& finish,
             DType dtype = DType::float32) {
  const Tensor b = random_tensor(transposed ? Shape{columns, depth} : Shape{depth, columns}, dtype, 2);
  return make_case("matmul", {{"transpose_a", false}, {"transpose_b", transposed}},
                   random_tensor({rows, depth}, dtype, 1), b, columns, finish);
}

void check_case(const Case& made, double tolerance = 2e-5) {
  for_each_isa([&](Isa isa) {
    std::string reason;
    if (!xsimd_kernel(made.request, isa, reason)) {  // no products of bfloat16
      BOOST_TEST((made.inputs[0].dtype() == DType::bfloat16));
      return;
    }
    check_xsimd_on(isa, made.request, made.inputs, made.expected, tolerance);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_packed)

BOOST_AUTO_TEST_CASE(products_of_odd_sizes) {
  for (const Finish& finish : finishes) {
    for (const std::int64_t rows : {1, 2, 3, 5, 12, 13, 100}) {
      for (const std::int64_t columns : {1, 15, 16, 17, 32, 70}) check_case(product(rows, 9, columns, false, finish));
    }
  }
  check_case(product(200, 65, 129, true, {.relu = true}));
  check_case(product(300, 130, 70, false, {.residual = true}));
}

BOOST_AUTO_TEST_CASE(products_of_bfloat16) {
  for (const Finish& finish : finishes) {
    for (const std::int64_t rows : {1, 3, 13}) check_case(product(rows, 10, 33, false, finish, DType::bfloat16));
  }
  check_case(product(40, 64, 48, true, {.relu = true}, DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(convolutions) {
  for (const Finish& finish : finishes) {
    check_case(convolution({2, 7, 6, 3}, {3, 3, 3, 5}, geometry({1, 1}, {1, 1, 1, 1}), finish));
    check_case(convolution({1, 9, 8, 2}, {3, 2, 2, 33}, geometry({2, 2}, {0, 1, 2, 0}), finish));
    check_case(convolution({2, 5, 6, 4}, {1, 1, 4, 17}, geometry({1, 1}, {0, 0, 0, 0}), finish));
    check_case(convolution({2, 6, 5, 4}, {1, 1, 4, 17}, geometry({2, 2}, {0, 0, 0, 0}), finish));
    check_case(convolution({1, 8, 40, 2}, {5, 3, 2, 8}, geometry({1, 3}, {0, 0, 0, 0}), finish));
    check_case(convolution({2, 7, 6, 4}, {3, 3, 4, 20}, geometry({1, 1}, {1, 1, 1, 1}), finish, DType::bfloat16));
  }
  check_case(convolution({3, 33, 34, 16}, {3, 3, 16, 40}, geometry({2, 2}, {1, 0, 1, 0}), {.relu = true}));
}

BOOST_AUTO_TEST_CASE(strides_without_some_constants) {
  for (const Finish& finish : finishes) {
    const Case made = convolution({2, 9, 8, 64}, {3, 3, 64, 70}, geometry({2, 2}, {1, 1, 0, 1}), finish);
    for (const std::size_t constant : {0, 1, 2}) {  // none, the kernel, the bias
      Case other = made;
      other.request.constants.clear();
      if (const auto kept = made.request.constants.find(constant); kept != made.request.constants.end())
        other.request.constants.insert(*kept);
      check_case(other, 1e-4);  // sums of 576 terms
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_stay) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    Case made = product(13, 8, 20, false, {.relu = true, .most = 6}, dtype);
    Tensor x({13, 8});
    for (const std::int64_t place : {0, 50}) x.mutable_data<float>()[place] = std::nanf("");
    x.mutable_data<float>()[20] = std::numeric_limits<float>::infinity();
    made.inputs[0] = x.cast(dtype);
    std::vector<Tensor> wide;
    for (const Tensor& input : made.inputs) wide.push_back(input.cast(DType::float32));
    const Tensor sums = run_reference("matmul", {{"transpose_a", false}, {"transpose_b", false}}, wide)[0];
    made.expected = {finished(sums, nullptr, {.relu = true, .most = 6}, dtype)};
    check_case(made);
  }
}

BOOST_AUTO_TEST_CASE(winograd_has_the_same_finishes) {
  for (const Finish& finish : finishes) {
    const Case made = convolution({1, 30, 29, 64}, {3, 3, 64, 64}, geometry({1, 1}, {1, 1, 1, 1}), finish);
    std::string reason;
    const auto kernel = create_kernel("winograd", made.request, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    BOOST_TEST(kernel->detail() == "F(4x4,3x3), packed");
    BOOST_TEST(largest_difference(run_kernel(*kernel, made.request, made.inputs)[0], made.expected[0]) < 1e-3);
  }
}

BOOST_AUTO_TEST_CASE(depthwise_convolutions_have_limits) {
  Attributes attributes = geometry({1, 1}, {1, 1, 1, 1});
  attributes.set("groups", std::int64_t{20});
  const Case made = convolution({1, 9, 8, 20}, {3, 3, 1, 20}, attributes, {.relu = true, .most = 0.5});
  check_case(made);
  BOOST_TEST(chosen_implementation(made.request) == "depthwise");
}

BOOST_AUTO_TEST_CASE(other_products_compute_the_finish_apart) {
  Attributes attributes = geometry({1, 1}, {0, 0, 0, 0});
  attributes.set("groups", std::int64_t{2});
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Case made =
        convolution({1, 9, 8, 8}, {3, 3, 4, 6}, attributes, {.residual = true, .relu = true, .most = 0.5}, dtype);
    const detail::ChosenKernel chosen = choose_kernel(made.request);
    BOOST_TEST(chosen.implementation == "apart");
    BOOST_TEST(largest_difference(run_kernel(*chosen.kernel, made.request, made.inputs)[0], made.expected[0]) <=
               (dtype == DType::float32 ? 1e-5 : 0x1p-6));
  }
}

BOOST_AUTO_TEST_CASE(kernels_of_one_constant_share_its_layout) {
  const std::size_t before = detail::packed_constant_count();
  const Case made = product(40, 64, 48, false, {.bias = false}), other = product(2, 64, 48, false, {.bias = false});
  KernelRequest same = other.request;
  same.constants = made.request.constants;
  std::string reason;
  {
    const auto one = create_kernel("packed", made.request, reason), two = create_kernel("packed", same, reason);
    const std::size_t used = detail::packed_constant_count();
    BOOST_TEST(used <= before + 2);  // the matrix, and the zeros in place of a bias
    const auto third = create_kernel("packed", other.request, reason);
    BOOST_TEST(detail::packed_constant_count() == used + 1);
  }
  BOOST_TEST(detail::packed_constant_count() == before);
}

BOOST_AUTO_TEST_CASE(graphs_that_are_not_frozen_have_the_kernels_of_before) {
  const Case made = product(40, 64, 48, false, {});
  KernelRequest request = made.request;
  request.constants.clear();
  BOOST_TEST(chosen_implementation(request) != "packed");
  std::string reason;
  BOOST_TEST(!create_kernel("packed", request, reason));
  BOOST_TEST(reason == "declined without a reason");
}

BOOST_AUTO_TEST_SUITE_END()
