#include "support/xsimd.hpp"

#include <cmath>
#include <limits>

#include <mezzo/core/cpu.hpp>
#include <mezzo/graph/codes.hpp>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct CodesProduct {
  std::int64_t rows = 3, depth = 19, columns = 33;
  std::int64_t bits = 8, block = -1;
  bool transposed = false;
  std::string activations = "none";
  bool nf4 = false;
  DType dtype = DType::float32;
};

Attributes attributes_of(const CodesProduct& p) {
  return {{"bits", p.bits},
          {"columns", p.transposed ? p.depth : p.columns},
          {"block_size", p.block},
          {"nf4", p.nf4},
          {"transpose_b", p.transposed},
          {"activations", p.activations}};
}

Tensor random_bytes(const Shape& shape, std::uint64_t seed, double low, double high) {
  return random_tensor(shape, DType::int8, seed, low, high);
}

std::vector<Tensor> operands_of(const CodesProduct& p) {
  Shape codes = p.transposed ? Shape{p.columns, p.depth} : Shape{p.depth, p.columns};
  const std::int64_t width = codes.back();
  if (p.bits == 4) codes.back() = (width + 1) / 2;
  Tensor bytes = random_bytes(codes, 2, p.bits == 4 ? -128 : -127, 128);
  if (p.bits == 4 && width % 2 != 0) {  // the last half byte of a row is 0
    for (std::int64_t i = 1; i <= codes[0]; ++i) bytes.mutable_data<std::int8_t>()[i * codes[1] - 1] &= 15;
  }
  std::vector<Tensor> all{random_tensor({p.rows, p.depth}, p.dtype, 1), bytes};
  if (p.block > 0) {
    const std::int64_t groups = (p.depth + p.block - 1) / p.block;
    const Shape scales = p.transposed ? Shape{p.columns, groups} : Shape{groups, p.columns};
    all.push_back(random_tensor(scales, DType::float32, 3, 0.01, 0.02));
    if (!p.nf4) all.push_back(random_bytes(scales, 4, -8, 8));
  } else {
    all.push_back(random_tensor({p.columns}, DType::float32, 3, 50, 100));
  }
  if (p.activations == "static") all.push_back(Tensor::scalar(150, DType::float32));
  return all;
}

std::string text_of(const CodesProduct& p) {
  return fmt::format("{} x {} x {}, {} bits, blocks of {}{}, {}, {}", p.rows, p.depth, p.columns, p.bits, p.block,
                     p.transposed ? ", transposed" : "", p.activations, p.dtype);
}

// Compares with the reference: exactly for few rows that are quantized, since their sums are exact.
void check_product(const CodesProduct& p, const std::vector<Tensor>& inputs) {
  const Attributes attributes = attributes_of(p);
  const KernelRequest request = kernel_request("quantized_matmul", attributes, inputs);
  const auto expected = widened_reference("quantized_matmul", attributes, inputs, request.outputs);
  const bool exact = p.rows <= 8 && p.activations != "none" && p.block <= 0;
  BOOST_TEST_CONTEXT(text_of(p)) {
    for_each_isa([&](Isa isa) {
      if (p.rows > 8 && isa < Isa::avx512) return;
      if (p.rows > 8 && !has_int8_products()) return skip("needs AVX512_VNNI");
      check_xsimd_on(isa, request, inputs, expected, exact ? 0 : 1e-4);
    });
  }
}

void check_product(const CodesProduct& p) { check_product(p, operands_of(p)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_codes)

BOOST_AUTO_TEST_CASE(few_rows_of_numbers) {
  for (const bool transposed : {false, true}) {
    for (const std::int64_t bits : {8, 4}) {
      for (std::int64_t rows = 1; rows <= 8; ++rows) {
        check_product({.rows = rows, .bits = bits, .transposed = transposed});
        check_product({.rows = rows, .depth = 21, .bits = bits, .block = 8, .transposed = transposed});
      }
      for (const std::int64_t columns : {1, 2, 15, 16, 31, 32, 65, 131}) {
        check_product({.depth = 40, .columns = columns, .bits = bits, .transposed = transposed});
        check_product({.depth = 40, .columns = columns, .bits = bits, .block = 16, .transposed = transposed});
      }
    }
  }
}

// Weights as floats: the numbers of the reference to the bit, also for scales that are zero or not finite.
BOOST_AUTO_TEST_CASE(numbers_of_codes) {
  struct Form {
    std::int64_t bits, axis, block;
    bool nf4;
  };
  for (const Form& form : std::vector<Form>{{8, 0, -1, false},
                                            {8, 1, -1, false},
                                            {8, 1, 7, false},
                                            {4, 0, -1, false},
                                            {4, 1, -1, false},
                                            {4, 0, 3, false},
                                            {4, 1, 64, false},
                                            {4, 0, 3, true},
                                            {4, 1, 32, true}}) {
    for (const std::int64_t columns : {1, 2, 15, 16, 31, 33, 65, 130}) {
      const Shape shape{5, columns};
      Tensor scales =
          random_tensor(detail::shape_of_scales(shape, {form.axis}, form.block), DType::float32, 3, 0.01, 90);
      scales.mutable_data<float>()[0] = std::nanf("");
      if (scales.size() > 3) {
        scales.mutable_data<float>()[1] = 0;
        scales.mutable_data<float>()[2] = std::numeric_limits<float>::infinity();
        scales.mutable_data<float>()[3] = 1e-42F;
      }
      std::vector<Tensor> inputs{random_bytes({5, detail::bytes_of_codes(columns, form.bits)}, 2, -128, 128), scales};
      if (form.block > 0 && !form.nf4) inputs.push_back(random_bytes(scales.shape(), 4, -8, 8));
      for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
        check_xsimd("dequantize",
                    {{"bits", form.bits},
                     {"columns", columns},
                     {"axes", Shape{form.axis}},
                     {"block_size", form.block},
                     {"nf4", form.nf4},
                     {"dtype", dtype}},
                    inputs, 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_codes_declines) {
  const auto reason_of = [](std::int64_t block, DType dtype) {
    const Attributes attributes{{"bits", std::int64_t{4}},
                                {"columns", std::int64_t{8}},
                                {"axes", Shape{1}},
                                {"block_size", block},
                                {"nf4", true},
                                {"dtype", dtype}};
    std::string reason;
    const std::int64_t blocks = (8 + block - 1) / block;
    xsimd_kernel(kernel_request("dequantize", attributes, {Tensor({2, 4}, DType::int8), Tensor({2, blocks})}), isa(),
                 reason);
    return reason;
  };
  BOOST_TEST(reason_of(3, DType::float32) == "takes even runs of codes of 4 bits with one scale; got 3");
  BOOST_TEST(reason_of(4, DType::float64) == "takes float32, bfloat16 and float16; got float64");
}

BOOST_AUTO_TEST_CASE(few_rows_of_large_matrices) {
  for (const bool transposed : {false, true}) {
    for (const std::int64_t bits : {8, 4}) {
      for (const std::int64_t block : {-1, 64, 300}) {
        for (const std::int64_t rows : {1, 5}) {
          check_product(
              {.rows = rows, .depth = 700, .columns = 330, .bits = bits, .block = block, .transposed = transposed});
        }
      }
    }
  }
  check_product({.rows = 1, .depth = 33, .columns = 9001, .bits = 4});
  check_product({.rows = 8, .depth = 33, .columns = 1500, .bits = 4, .block = 7});
}

// Sums that an int32 holds, and longer ones.
BOOST_AUTO_TEST_CASE(few_rows_of_long_sums) {
  for (const std::int64_t depth : {131072, 131073, 300000}) {
    const CodesProduct p{.rows = 2, .depth = depth, .columns = 3, .activations = "dynamic"};
    std::vector<Tensor> inputs = operands_of(p);
    std::fill_n(inputs[0].mutable_data<float>(), inputs[0].size(), 1.0F);
    std::fill_n(inputs[1].mutable_data<std::int8_t>(), inputs[1].size(), std::int8_t{127});
    const Attributes attributes = attributes_of(p);
    const KernelRequest request = kernel_request("quantized_matmul", attributes, inputs);
    const auto expected = widened_reference("quantized_matmul", attributes, inputs, request.outputs);
    for_each_isa([&](Isa isa) { check_xsimd_on(isa, request, inputs, expected, 1e-6); });
  }
}

BOOST_AUTO_TEST_CASE(few_rows_of_nf4) {
  for (const bool transposed : {false, true}) {
    for (std::int64_t rows = 1; rows <= 8; ++rows) {
      check_product({.rows = rows, .depth = 21, .bits = 4, .block = 8, .transposed = transposed, .nf4 = true});
    }
    for (const std::int64_t columns : {1, 2, 15, 16, 31, 32, 65, 131}) {
      for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
        check_product({.depth = 200,
                       .columns = columns,
                       .bits = 4,
                       .block = 64,
                       .transposed = transposed,
                       .nf4 = true,
                       .dtype = dtype});
      }
    }
    CodesProduct p{.depth = 70, .bits = 4, .block = 64, .transposed = transposed, .nf4 = true};
    std::vector<Tensor> inputs = operands_of(p);
    inputs[0].mutable_data<float>()[69] = std::nanf("");
    inputs[0].mutable_data<float>()[70 + 3] = std::numeric_limits<float>::infinity();
    check_product(p, inputs);
  }
}

BOOST_AUTO_TEST_CASE(few_rows_in_16_bits) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    for (const bool transposed : {false, true}) {
      for (const char* activations : {"none", "dynamic", "static"}) {
        for (const std::int64_t bits : {8, 4}) {
          check_product({.rows = 2,
                         .depth = 270,
                         .columns = 70,
                         .bits = bits,
                         .transposed = transposed,
                         .activations = activations,
                         .dtype = dtype});
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(few_rows_that_are_quantized) {
  for (const bool transposed : {false, true}) {
    for (const char* activations : {"dynamic", "static"}) {
      for (const std::int64_t bits : {8, 4}) {
        for (const std::int64_t rows : {1, 3, 8}) {
          check_product({.rows = rows, .bits = bits, .transposed = transposed, .activations = activations});
          check_product({.rows = rows,
                         .depth = 1500,
                         .columns = 100,
                         .bits = bits,
                         .transposed = transposed,
                         .activations = activations});
        }
      }
      check_product({.depth = 200, .bits = 4, .block = 64, .transposed = transposed, .activations = activations});
    }
  }
}

BOOST_AUTO_TEST_CASE(many_rows_that_are_quantized) {
  for (const bool transposed : {false, true}) {
    for (const char* activations : {"dynamic", "static"}) {
      for (const DType dtype : {DType::float32, DType::bfloat16}) {
        for (const std::int64_t rows : {9, 12, 60}) {
          check_product({.rows = rows, .transposed = transposed, .activations = activations, .dtype = dtype});
          check_product({.rows = rows,
                         .depth = 130,
                         .columns = 70,
                         .transposed = transposed,
                         .activations = activations,
                         .dtype = dtype});
        }
        check_product({.rows = 300,
                       .depth = 1030,
                       .columns = 600,
                       .transposed = transposed,
                       .activations = activations,
                       .dtype = dtype});
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_stay) {
  for (const std::int64_t rows : {5, 20}) {
    for (const char* activations : {"none", "dynamic", "static"}) {
      if (rows > 8 && std::string(activations) == "none") continue;
      for (const std::int64_t bits : {8, 4}) {
        if (rows > 8 && bits == 4) continue;
        for (const bool transposed : {false, true}) {
          const CodesProduct p{
              .rows = rows, .depth = 70, .bits = bits, .transposed = transposed, .activations = activations};
          std::vector<Tensor> inputs = operands_of(p);
          float* const x = inputs[0].mutable_data<float>();
          constexpr std::int64_t depth = 70;
          x[depth - 1] = std::nanf("");
          x[depth + 3] = std::numeric_limits<float>::infinity();
          x[2 * depth] = -std::numeric_limits<float>::infinity();
          for (std::int64_t k = 0; k < depth; ++k) x[3 * depth + k] = 0;
          x[4 * depth + 1] = 1e30F;  // clipped by a static scale
          check_product(p, inputs);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(constants_are_packed_once) {
  if (!has_int8_products()) return skip("needs AVX512_VNNI");
  const CodesProduct p{.rows = 40, .depth = 64, .columns = 48, .activations = "dynamic"};
  const std::vector<Tensor> inputs = operands_of(p);
  check_packed_once(kernel_request("quantized_matmul", attributes_of(p), inputs), inputs, {1, 2});
}

BOOST_AUTO_TEST_CASE(other_products_are_declined) {
  const auto reason_of = [](const CodesProduct& p) {
    std::string reason;
    const KernelRequest request = kernel_request("quantized_matmul", attributes_of(p), operands_of(p));
    BOOST_TEST(create_kernel("codes", request, reason) == nullptr);
    return reason;
  };
  const std::string rows =
      "multiplies at most 8 rows, more if they are quantized and codes have 8 bits and no blocks; got 9";
  BOOST_TEST(reason_of({.rows = 9}) == rows);
  BOOST_TEST(reason_of({.rows = 9, .bits = 4, .activations = "dynamic"}) == rows);
  BOOST_TEST(reason_of({.dtype = DType::float64}) == "takes float32, bfloat16 and float16; got float64");
  BOOST_TEST(reason_of({.bits = 4, .block = 5, .transposed = true}) ==
             "takes even blocks of transposed codes of 4 bits; got 5");
  BOOST_TEST(reason_of({.rows = 0}) == "takes operands with elements; got shape (0, 19)");
}

BOOST_AUTO_TEST_SUITE_END()
