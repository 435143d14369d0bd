#include <boost/test/unit_test.hpp>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<DType> halves{DType::bfloat16, DType::float16};

bool is_half(const Tensor& x) { return x.dtype() == DType::bfloat16 || x.dtype() == DType::float16; }

/// The expected result of widening: the chosen float32 kernel on float32 operands, its results rounded once.
std::vector<Tensor> widened_by_hand(const std::string& op, const Attributes& attributes, std::vector<Tensor> inputs,
                                    const std::vector<Tensor>& like) {
  for (Tensor& input : inputs) {
    if (is_half(input)) input = input.cast(DType::float32);
  }
  const KernelRequest request = kernel_request(op, attributes, inputs);
  std::vector<Tensor> outputs = run_kernel(*choose_kernel(request).kernel, request, inputs);
  for (std::size_t i = 0; i < like.size(); ++i) outputs[i] = outputs[i].cast(like[i].dtype());
  return outputs;
}

void check(const std::string& op, const Attributes& attributes, const std::vector<Tensor>& inputs,
           const Attributes& wide_attributes) {
  const KernelRun run = run_kernel("widen", op, attributes, inputs);
  BOOST_REQUIRE_MESSAGE(run.ran(), op << ": " << run.declined);
  const std::vector<Tensor> expected = widened_by_hand(op, wide_attributes, inputs, run.outputs);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST(run.outputs[i].equal(expected[i]), op << " output " << i << " of " << inputs[0].describe());
  }
  BOOST_TEST(count_safe_overwrites("widen", op, attributes, inputs) >= 0);
}

void check(const std::string& op, const Attributes& attributes, const std::vector<Tensor>& inputs) {
  check(op, attributes, inputs, attributes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(widen)

BOOST_AUTO_TEST_CASE(elementwise) {
  for (const DType dtype : halves) {
    const Tensor a = random_tensor({5, 7}, dtype, 1, 0.1, 3), b = random_tensor({7}, dtype, 2, 0.1, 3);
    for (const char* op : {"relu", "exp", "log", "negative", "abs", "sign"}) check(op, {}, {a});
    for (const char* op : {"add", "subtract", "multiply", "divide"}) check(op, {}, {a, b});
    for (const char* op : {"tanh", "sigmoid"}) check(op, {}, {a});
    for (const char* op : {"relu_gradient", "tanh_gradient", "sigmoid_gradient"}) check(op, {}, {a, a});
    check("relu", {{"max_value", 2.0}}, {a});
    check("relu_gradient", {{"max_value", 2.0}}, {a, a});
    check("gelu", {{"approximate", true}}, {a});
    check("gelu_gradient", {{"approximate", true}}, {a, a});
    check("softmax", {{"axis", std::int64_t{0}}}, {a});
    check("softmax_gradient", {{"axis", std::int64_t{0}}}, {a, a});
    check("relu_bias_gradient", {}, {a, a});
    check("dropout", {{"rate", 0.4}, {"key", std::int64_t{5}}}, {a, float64_scalar(1), float64_scalar(2)});
  }
}

BOOST_AUTO_TEST_CASE(attributes_with_the_output_dtype) {
  for (const DType dtype : halves) {
    const Tensor a = random_tensor({6, 9}, dtype, 1), b = random_tensor({9, 5}, dtype, 2);
    const Tensor bias = random_tensor({5}, DType::float32, 3);
    const Attributes product{{"transpose_a", false}, {"transpose_b", false}, {"epilogue", detail::Epilogue::relu}};
    const Attributes sums{{"axes", Shape{0}}, {"keepdims", false}};
    for (const DType out : {dtype, DType::float32}) {
      check("matmul", with_attribute(product, "dtype", out), {a, b, bias},
            with_attribute(product, "dtype", DType::float32));
      check("sum", with_attribute(sums, "dtype", out), {a}, with_attribute(sums, "dtype", DType::float32));
      check("mean", with_attribute(sums, "dtype", out), {a}, with_attribute(sums, "dtype", DType::float32));
    }
  }
}

BOOST_AUTO_TEST_CASE(convolution_and_pooling) {
  for (const DType dtype : halves) {
    const Tensor x = random_tensor({2, 6, 6, 3}, dtype, 1), kernel = random_tensor({3, 3, 3, 4}, dtype, 2);
    const Tensor g = random_tensor({2, 4, 4, 4}, dtype, 3);
    const Attributes conv{{"strides", Shape{1, 1}},
                          {"padding", Shape{0, 0, 0, 0}},
                          {"dilation", Shape{1, 1}},
                          {"groups", std::int64_t{1}}};
    check("conv2d", conv, {x, kernel});
    const Attributes to_x = with_attribute(conv, "shape", x.shape()),
                     to_kernel = with_attribute(conv, "shape", kernel.shape());
    const detail::Attribute narrow(dtype), wide(DType::float32);
    check("conv2d_input_gradient", with_attribute(to_x, "dtype", narrow), {g, kernel},
          with_attribute(to_x, "dtype", wide));
    check("conv2d_kernel_gradient", with_attribute(to_kernel, "dtype", wide), {x, g});
    const Attributes pool{{"window", Shape{2, 2}}, {"strides", Shape{1, 1}}, {"padding", Shape{1, 1, 1, 1}}};
    check("max_pool2d", pool, {x});
    const Tensor places = run_kernel("widen", "max_pool2d", pool, {x}).outputs.at(1);
    check("max_pool2d_gradient", with_attribute(pool, "shape", x.shape()),
          {random_tensor({2, 7, 7, 3}, dtype, 4), places});
  }
}

BOOST_AUTO_TEST_CASE(operands_of_mixed_roles) {
  for (const DType dtype : halves) {
    const Tensor x = random_tensor({8, 3}, dtype, 1), c = random_tensor({3}, DType::float32, 2, 0.5, 2);
    const Attributes norm{{"epsilon", 1e-3}, {"momentum", 0.9}, {"training", true}};
    check("batch_norm", norm, {x, c, c, c, c});
    check("batch_norm_gradient", {{"training", true}}, {x, x, c, c, c});
    const Tensor mean = random_tensor({8}, DType::float32, 5);
    check("layer_norm", {{"epsilon", 1e-3}}, {x, c, c});
    check("layer_norm_gradient", {}, {x, x, c, mean, mean});
    const Tensor labels = random_tensor({8}, DType::int32, 3, 0, 3), g = random_tensor({8}, DType::float32, 4);
    check("sparse_categorical_crossentropy", {{"from_logits", true}}, {labels, x});
    check("sparse_categorical_crossentropy_gradient", {{"from_logits", true}}, {labels, x, g});
  }
}

BOOST_AUTO_TEST_CASE(updates) {
  const Attributes sgd{{"momentum", 0.9}, {"weight_decay", 0.01}, {"clipvalue", 0.0}, {"nesterov", true}};
  const Attributes adam{
      {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0.004}, {"clipvalue", 1.0}};
  const Tensor m = random_tensor({45}, DType::float32, 3), v = random_tensor({45}, DType::float32, 4, 0, 1);
  for (const DType variable : {DType::bfloat16, DType::float16, DType::float32}) {
    for (const DType gradient : {DType::bfloat16, DType::float16, DType::float32}) {
      const Tensor w = random_tensor({45}, variable, 1), g = random_tensor({45}, gradient, 2);
      const std::vector<Tensor> of_sgd{w, g, m, float64_scalar(0.1), float64_scalar(0.5)};
      const std::vector<Tensor> of_adam{w, g, m, v, float64_scalar(0.1), float64_scalar(3), float64_scalar(0.5)};
      if (is_half(w) || is_half(g)) {
        check("sgd_update", sgd, of_sgd);
        check("adam_update", adam, of_adam);
      }
      const auto a =
          run_kernel("widen", "sgd_update", with_attribute(sgd, "copy_dtype", DType::bfloat16), of_sgd).outputs;
      BOOST_TEST(a.at(2).equal(a[0].cast(DType::bfloat16)));
      const auto b =
          run_kernel("widen", "adam_update", with_attribute(adam, "copy_dtype", DType::float16), of_adam).outputs;
      BOOST_TEST(b.at(3).equal(b[0].cast(DType::float16)));
    }
  }
}

BOOST_AUTO_TEST_CASE(results_are_rounded_and_overflow_as_the_dtype_does) {
  const Tensor a({3}, std::vector<float16>{float16(60000.0F), float16(1.0F), float16(2048.0F)});
  const Tensor b({3}, std::vector<float16>{float16(60000.0F), float16(0x1p-11F), float16(3.0F)});
  const auto sum = run_kernel("widen", "add", {}, {a, b}).outputs.at(0).to_doubles();
  BOOST_TEST((sum == std::vector<double>{std::numeric_limits<double>::infinity(), 1, 2052}));
}

BOOST_AUTO_TEST_CASE(sums_do_not_stall_in_the_narrow_dtype) {
  const Tensor ones = Tensor({5000}, std::vector<float>(5000, 1.0F)).cast(DType::bfloat16);
  const Attributes attributes{{"axes", Shape{0}}, {"keepdims", false}, {"dtype", DType::float32}};
  BOOST_TEST(run_kernel("widen", "sum", attributes, {ones}).outputs.at(0).item() == 5000);
}

BOOST_AUTO_TEST_CASE(errors_of_the_inner_kernel_are_thrown) {
  const Tensor labels({1}, std::vector<std::int32_t>{3}), scores({1, 3}, DType::bfloat16);
  BOOST_CHECK_THROW(run_kernel("widen", "sparse_categorical_crossentropy", {{"from_logits", true}}, {labels, scores}),
                    ValueError);
}

BOOST_AUTO_TEST_CASE(declines_when_there_is_nothing_to_widen) {
  const std::string nothing_to_widen = "takes bfloat16 or float16 operands; got only other dtypes";
  BOOST_TEST(run_kernel("widen", "exp", {}, {Tensor({2})}).declined == nothing_to_widen);
  BOOST_TEST(run_kernel("widen", "exp", {}, {Tensor({2}, DType::float64)}).declined == nothing_to_widen);
}

BOOST_AUTO_TEST_CASE(detail_names_the_inner_implementation) {
  const Tensor x({2}, DType::float16);
  const detail::ChosenKernel inner = choose_kernel(kernel_request("exp", {}, {x.cast(DType::float32)}));
  BOOST_TEST(run_kernel("widen", "exp", {}, {x}).detail.find("float32 " + inner.implementation) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
