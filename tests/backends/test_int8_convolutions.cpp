// Convolutions whose operands are quantized to int8, and the gradients for their inputs: the reference, its emulation
// in float32, the vectorized kernel, and the choice of a kernel.
#include "support/xsimd.hpp"

#include <cmath>
#include <limits>

#include <mezzo/core/int8_scale.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Int8Convolution {
  Shape x, kernel;
  Shape strides{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
  DType dtype = DType::float32;
  std::optional<DType> bias{};
  bool relu = false;
};

Attributes attributes_of(const Int8Convolution& c, bool int8 = true) {
  Attributes attributes{
      {"strides", c.strides}, {"padding", c.padding}, {"dilation", c.dilation}, {"groups", c.x[3] / c.kernel[2]}};
  if (int8) attributes.set("products", std::string("int8"));
  if (c.relu) attributes.set("epilogue", detail::Epilogue::relu);
  return attributes;
}

std::vector<Tensor> operands_of(const Int8Convolution& c) {
  std::vector<Tensor> all{random_tensor(c.x, c.dtype, 1), random_tensor(c.kernel, c.dtype, 2)};
  if (c.bias) all.push_back(random_tensor({c.kernel[3]}, *c.bias, 3));
  return all;
}

/// The convolution's output gets a cotangent in the gradient for its input.
Attributes gradient_attributes(const Int8Convolution& c, DType out, bool int8 = true) {
  Attributes attributes = attributes_of(c, int8);
  attributes.set("shape", c.x);
  attributes.set("dtype", out);
  return attributes;
}

std::vector<Tensor> gradient_operands(const Int8Convolution& c) {
  const Shape y = kernel_request("conv2d", attributes_of(c), operands_of(c)).outputs[0].shape;
  return {random_tensor(y, c.dtype, 4), random_tensor(c.kernel, c.dtype, 2)};
}

const std::vector<Int8Convolution> convolutions{
    {{2, 5, 6, 16}, {3, 3, 16, 33}, {1, 1}, {1, 1, 1, 1}},
    {{1, 7, 9, 4}, {3, 2, 4, 8}, {1, 1}, {0, 1, 1, 0}},
    {{3, 8, 8, 20}, {5, 3, 20, 16}, {1, 1}, {2, 2, 0, 1}},
    {{1, 9, 8, 8}, {3, 2, 8, 20}, {1, 1}, {2, 1, 0, 2}, {2, 3}},
    {{2, 7, 7, 64}, {1, 1, 64, 68}},
    {{1, 1, 1, 4}, {1, 1, 4, 4}},
    {{9, 14, 13, 24}, {3, 3, 24, 40}, {1, 1}, {1, 1, 1, 1}},  // shared by threads
};

/// An array as (outer, parts, inner), each part rounded to the multiples of a 127th of its largest magnitude.
Tensor rounded(const Tensor& x, std::int64_t parts, std::int64_t inner) {
  Tensor out = x.copy();
  std::vector<float> largest(static_cast<std::size_t>(parts));
  const auto part = [&](std::int64_t i) { return static_cast<std::size_t>(i / inner % parts); };
  for (std::int64_t i = 0; i < x.size(); ++i) {
    largest[part(i)] = std::max(largest[part(i)], std::abs(x.data<float>()[i]));
  }
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const float scale = largest[part(i)] / 127;
    out.mutable_data<float>()[i] = std::nearbyint(x.data<float>()[i] * (127 / largest[part(i)])) * scale;
  }
  return out;
}

Tensor run(const char* implementation, const char* op, const Attributes& attributes,
           const std::vector<Tensor>& inputs) {
  const KernelRun result = run_kernel(implementation, op, attributes, inputs);
  BOOST_TEST_REQUIRE(result.ran(), result.declined);
  return result.outputs.front();
}

// The vectorized kernel equals the reference bit for bit.
void check_bits(const char* op, const Attributes& attributes, const std::vector<Tensor>& inputs) {
  const KernelRequest request = kernel_request(op, attributes, inputs);
  const std::vector<Tensor> expected = widened_reference(op, attributes, inputs, request.outputs);
  BOOST_TEST_CONTEXT(fmt::format("{} {} by {}, {}", op, inputs[0].shape(), inputs[1].shape(), attributes.to_string())) {
    for_each_int8_isa([&](Isa isa) { check_xsimd_on(isa, request, inputs, expected, 0); });
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(int8_convolutions)

// The convolution of rounded numbers, up to the rounding of float32 sums.
BOOST_AUTO_TEST_CASE(the_reference_rounds_images_and_filters) {
  for (Int8Convolution c : convolutions) {
    for (const bool strided : {false, true}) {
      if (strided) c.strides = {2, 1};
      const std::vector<Tensor> x = operands_of(c), g = gradient_operands(c);
      const Tensor filters = rounded(x[1], c.kernel[3], 1);
      const Tensor channels = rounded(x[1], c.kernel[2], c.kernel[3]);
      const Tensor images = rounded(x[0], c.x[0], x[0].size() / c.x[0]);
      const Tensor cotangents = rounded(g[0], c.x[0], g[0].size() / c.x[0]);
      const Tensor y = run("reference", "conv2d", attributes_of(c, false), {images, filters});
      const Tensor of_x = run("reference", "conv2d_input_gradient", gradient_attributes(c, DType::float32, false),
                              {cotangents, channels});
      const Attributes forward = attributes_of(c), gradient = gradient_attributes(c, DType::float32);
      BOOST_TEST_CONTEXT(fmt::format("{} by {}", c.x, c.kernel)) {
        BOOST_TEST(largest_difference(run("reference", "conv2d", forward, x), y) < 2e-5);
        BOOST_TEST(largest_difference(run("reference", "conv2d_input_gradient", gradient, g), of_x) < 2e-5);
        // Kernels of float32 that the emulation uses, such as Winograd's, have this bound for sums of so many terms.
        const auto bound = [&](std::int64_t last) {
          return 6 * 0x1p-23 * static_cast<double>(c.kernel[0] * c.kernel[1] * last);
        };
        BOOST_TEST(largest_difference(run("emulated", "conv2d", forward, x), y) < bound(c.kernel[2]));
        BOOST_TEST(largest_difference(run("emulated", "conv2d_input_gradient", gradient, g), of_x) <
                   bound(c.kernel[3]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bias_and_relu_follow_in_float32) {
  Int8Convolution c{{2, 4, 5, 16}, {3, 3, 16, 20}};
  const Tensor bare = run("reference", "conv2d", attributes_of(c), operands_of(c));
  c.bias = DType::float32;
  c.relu = true;
  const std::vector<Tensor> operands = operands_of(c);
  Tensor expected = bare.copy();
  for (std::int64_t i = 0; i < bare.size(); ++i) {
    expected.mutable_data<float>()[i] = std::max(0.0F, bare.data<float>()[i] + operands[2].data<float>()[i % 20]);
  }
  BOOST_TEST(run("reference", "conv2d", attributes_of(c), operands).equal(expected));
  BOOST_TEST(largest_difference(run("emulated", "conv2d", attributes_of(c), operands), expected) < 2e-5);
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_make_images_and_filters_nan) {
  const Int8Convolution c{{3, 4, 5, 16}, {3, 3, 16, 20}, {1, 1}, {1, 1, 1, 1}, {1, 1}, DType::float32, {}, true};
  for (const char* implementation : {"reference", "emulated"}) {
    for (const float bad : {not_a_number, infinity, -infinity}) {
      std::vector<Tensor> x = operands_of(c), g = gradient_operands(c);
      x[0] = x[0].copy();
      x[0].mutable_data<float>()[c.x[1] * c.x[2] * c.x[3] + 7] = bad;  // in the second image
      Tensor y = run(implementation, "conv2d", attributes_of(c), x);
      for (std::int64_t i = 0; i < y.size(); ++i) {
        BOOST_TEST(std::isnan(y.data<float>()[i]) == (i / (y.size() / 3) == 1));
      }
      x = operands_of(c);
      x[1] = x[1].copy();
      x[1].mutable_data<float>()[std::size_t{5} * 20 + 3] = bad;  // of channel 5 and filter 3
      y = run(implementation, "conv2d", attributes_of(c), x);
      for (std::int64_t i = 0; i < y.size(); ++i) BOOST_TEST(std::isnan(y.data<float>()[i]) == (i % 20 == 3));
      y = run(implementation, "conv2d_input_gradient", gradient_attributes(c, DType::float32), {g[0], x[1]});
      for (std::int64_t i = 0; i < y.size(); ++i) BOOST_TEST(std::isnan(y.data<float>()[i]) == (i % 16 == 5));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_images_and_zeros_give_numbers) {
  const Int8Convolution none{{0, 4, 4, 16}, {3, 3, 16, 16}};
  BOOST_TEST(run("reference", "conv2d", attributes_of(none), operands_of(none)).shape() == (Shape{0, 2, 2, 16}));
  const Int8Convolution c{{1, 4, 4, 16}, {3, 3, 16, 16}};
  const Tensor zero(c.x), kernel = operands_of(c)[1];
  for (const char* implementation : {"reference", "emulated"}) {
    BOOST_TEST(run(implementation, "conv2d", attributes_of(c), {zero, kernel}).equal(Tensor({1, 2, 2, 16})));
  }
}

BOOST_AUTO_TEST_CASE(double_precision_has_the_same_codes) {
  const Int8Convolution c{{2, 5, 4, 16}, {3, 3, 16, 16}};
  const std::vector<Tensor> x = operands_of(c), g = gradient_operands(c);
  const Tensor y = run("reference", "conv2d", attributes_of(c), {x[0].cast(DType::float64), x[1].cast(DType::float64)});
  BOOST_TEST(y.cast(DType::float32).equal(run("reference", "conv2d", attributes_of(c), x)));
  const Tensor of_x = run("reference", "conv2d_input_gradient", gradient_attributes(c, DType::float64),
                          {g[0].cast(DType::float64), g[1].cast(DType::float64)});
  const Tensor narrow = run("reference", "conv2d_input_gradient", gradient_attributes(c, DType::float32), g);
  BOOST_TEST(of_x.cast(DType::float32).equal(narrow));
}

BOOST_AUTO_TEST_CASE(vectorized_convolutions) {
  for (Int8Convolution c : convolutions) {
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      c.dtype = dtype;
      check_bits("conv2d", attributes_of(c), operands_of(c));
      Int8Convolution other = c;
      other.strides = {2, 2};
      other.bias = DType::float32;
      other.relu = true;
      check_bits("conv2d", attributes_of(other), operands_of(other));
      other.bias = dtype;
      other.relu = false;
      check_bits("conv2d", attributes_of(other), operands_of(other));
    }
  }
}

BOOST_AUTO_TEST_CASE(vectorized_gradients) {
  for (Int8Convolution c : convolutions) {
    if (c.kernel[3] % 4 != 0) continue;  // declined, as the_vectorized_kernel_declines_others() has it
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      c.dtype = dtype;
      for (const DType out : {DType::float32, dtype}) {
        check_bits("conv2d_input_gradient", gradient_attributes(c, out), gradient_operands(c));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(vectorized_nan_and_infinity_stay) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Int8Convolution c{{3, 5, 5, 16}, {3, 3, 16, 40}, {1, 1}, {1, 1, 1, 1}, {1, 1}, dtype, {}, true};
    const auto with = [&](const Tensor& tensor, float bad) {
      Tensor wide = tensor.cast(DType::float32).copy();
      wide.mutable_data<float>()[tensor.size() / 2] = bad;
      return wide.cast(dtype);
    };
    for (const float bad : {not_a_number, infinity, -infinity, 1e-40F}) {
      const std::vector<Tensor> x = operands_of(c), g = gradient_operands(c);
      check_bits("conv2d", attributes_of(c), {with(x[0], bad), x[1]});
      check_bits("conv2d", attributes_of(c), {x[0], with(x[1], bad)});
      check_bits("conv2d_input_gradient", gradient_attributes(c, dtype), {with(g[0], bad), g[1]});
      check_bits("conv2d_input_gradient", gradient_attributes(c, dtype), {g[0], with(g[1], bad)});
    }
  }
}

BOOST_AUTO_TEST_CASE(constant_kernels_are_packed_once) {
  if (!has_int8_products()) return skip("needs AVX512_VNNI");
  const Int8Convolution c{{2, 6, 6, 16}, {3, 3, 16, 40}, {1, 1}, {1, 1, 1, 1}, {1, 1}, DType::bfloat16};
  check_packed_once(kernel_request("conv2d", attributes_of(c), operands_of(c)), operands_of(c), {1});
}

BOOST_AUTO_TEST_CASE(only_kernels_that_quantize_are_chosen) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    for (const Int8Convolution& c : convolutions) {
      const KernelRequest request =
          kernel_request("conv2d", attributes_of(c), {Spec{c.x, dtype}, Spec{c.kernel, dtype}});
      const Attributes of_x = gradient_attributes(c, dtype);
      const std::string forward = chosen_implementation(request);
      const std::string gradient = chosen_implementation(
          kernel_request("conv2d_input_gradient", of_x, {request.outputs[0], Spec{c.kernel, dtype}}));
      for (const std::string& chosen : {forward, gradient}) {
        BOOST_TEST((chosen == "int8" || chosen == "emulated" || chosen == "widen"), chosen);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(half_dtypes_are_quantized_from_their_own_numbers) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Int8Convolution c{{2, 5, 4, 16}, {3, 3, 16, 16}, {1, 1}, {1, 1, 1, 1}, {1, 1}, dtype};
    const std::vector<Tensor> x = operands_of(c);
    const std::vector<Tensor> floats{x[0].cast(DType::float32), x[1].cast(DType::float32)};
    const Tensor wide = run("reference", "conv2d", attributes_of(c), floats);
    const Tensor narrow = run("widen", "conv2d", attributes_of(c), x);
    // Relative, one unit in the last place: an error of float32 may turn the rounding of the result.
    const double unit = dtype == DType::bfloat16 ? 0x1p-7 : 0x1p-10;
    BOOST_TEST(largest_difference(narrow, wide.cast(dtype)) <= unit);
    BOOST_TEST(!narrow.equal(run("reference", "conv2d", attributes_of(c, false), floats).cast(dtype)));
  }
}

BOOST_AUTO_TEST_CASE(the_vectorized_kernel_declines_others) {
  const auto reason_of = [](const char* op, const Attributes& attributes, const std::vector<Tensor>& inputs) {
    std::string reason;
    BOOST_TEST(create_kernel("int8", kernel_request(op, attributes, inputs), reason) == nullptr);
    return reason;
  };
  Int8Convolution c{{1, 6, 6, 16}, {3, 3, 16, 16}};
  BOOST_TEST(reason_of("conv2d", attributes_of(c, false), operands_of(c)) == "declined without a reason");
  if (!has_int8_products()) {
    BOOST_TEST(reason_of("conv2d", attributes_of(c), operands_of(c)) == "needs AVX-512 with VNNI");
    return skip("needs AVX512_VNNI");
  }
  const Int8Convolution odd{{1, 6, 6, 18}, {3, 3, 18, 16}}, deep{{1, 1, 1, 65540}, {1, 1, 65540, 16}};
  BOOST_TEST(reason_of("conv2d", attributes_of(odd), operands_of(odd)) ==
             "takes pixels of whole words of 4 codes; got 18 channels");
  BOOST_TEST(reason_of("conv2d", attributes_of(deep), operands_of(deep)) ==
             "takes sums of at most 65536 terms; got 65540");
  c.dtype = DType::float16;
  BOOST_TEST(reason_of("conv2d", attributes_of(c), operands_of(c)) == "takes float32 and bfloat16; got float16");
  c.dtype = DType::float32;
  for (const bool strided : {false, true}) {
    if (strided) c.strides = {2, 2};
    if (!strided) c.padding = {3, 3, 3, 3};
    BOOST_TEST(reason_of("conv2d_input_gradient", gradient_attributes(c, DType::float32), gradient_operands(c)) ==
               "takes gradients without strides and with padding inside of the kernel's reach");
  }
}

BOOST_AUTO_TEST_CASE(other_formats_and_groups_are_refused) {
  const Int8Convolution grouped{{1, 4, 4, 32}, {3, 3, 16, 32}};
  Attributes attributes = attributes_of(grouped);
  check_throws<ValueError>("[conv2d] products of int8 need 1 group; got 2",
                           [&] { kernel_request("conv2d", attributes, operands_of(grouped)); });
  attributes.set("products", std::string("int2"));
  check_throws<NameError>("[conv2d] unknown products \"int2\"; valid names: int8",
                          [&] { kernel_request("conv2d", attributes, operands_of(grouped)); });
}

BOOST_AUTO_TEST_SUITE_END()
