// Matrix products whose operands are quantized to int8: the reference, its emulation in float32, and the choice of a
// kernel.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <mezzo/core/int8_scale.hpp>

#include "support/kernels.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

Attributes int8_product(bool transpose_a = false, bool transpose_b = false, bool relu = false) {
  Attributes attributes{{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"products", std::string("int8")}};
  if (relu) attributes.set("epilogue", detail::Epilogue::relu);
  return attributes;
}

Shape shape_of(std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? Shape{columns, rows} : Shape{rows, columns};
}

/// Element (i, k) of a matrix.
float at(const Tensor& x, std::int64_t i, std::int64_t k, bool transposed) {
  return x.data<float>()[transposed ? k * x.shape()[1] + i : i * x.shape()[1] + k];
}

struct Line {
  float scale = 0;
  std::vector<int> codes;
};

/// By the definition: codes to the nearest, ties to even, of numbers in units of a 127th of the largest magnitude.
Line quantized(const std::vector<float>& x) {
  float largest = 0;
  for (const float one : x) largest = std::max(largest, std::abs(one));
  Line line{largest / 127, {}};
  for (const float one : x)
    line.codes.push_back(largest > 0 ? static_cast<int>(std::nearbyint(one * (127 / largest))) : 0);
  return line;
}

/// The sum over groups of 2048 terms, which have scales of their own.
float product_of_groups(const std::vector<float>& row, const std::vector<float>& column) {
  const auto part = [](const std::vector<float>& x, std::size_t begin, std::size_t end) {
    return quantized({x.begin() + static_cast<std::ptrdiff_t>(begin), x.begin() + static_cast<std::ptrdiff_t>(end)});
  };
  float product = 0;
  for (std::size_t begin = 0; begin < row.size(); begin += 2048) {
    const std::size_t end = std::min<std::size_t>(row.size(), begin + 2048);
    const Line x = part(row, begin, end), y = part(column, begin, end);
    int sum = 0;
    for (std::size_t l = 0; l < x.codes.size(); ++l) sum += x.codes[l] * y.codes[l];
    product += static_cast<float>(sum) * x.scale * y.scale;
  }
  return product;
}

Tensor plain(const Tensor& a, const Tensor& b, std::int64_t m, std::int64_t k, std::int64_t n, bool ta, bool tb,
             const Tensor& bias = {}, bool relu = false) {
  Tensor out({m, n});
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::vector<float> row, column;
      for (std::int64_t l = 0; l < k; ++l) {
        row.push_back(at(a, i, l, ta));
        column.push_back(at(b, l, j, tb));
      }
      float product = product_of_groups(row, column);
      if (bias.size() > 0) product += bias.data<float>()[j];
      out.mutable_data<float>()[i * n + j] = relu ? std::max(product, 0.0F) : product;
    }
  }
  return out;
}

Tensor run(const char* implementation, const Attributes& attributes, const std::vector<Tensor>& inputs) {
  const KernelRun result = run_kernel(implementation, "matmul", attributes, inputs);
  BOOST_TEST_REQUIRE(result.ran(), result.declined);
  return result.outputs.front();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(int8_products)

BOOST_AUTO_TEST_CASE(codes_and_scales) {
  const detail::Int8Scale scale(254);
  BOOST_TEST(scale.scale == 2);
  for (const auto& [x, code] : {std::pair{254.0F, 127},
                                {-254.0F, -127},
                                {0.0F, 0},
                                {1.0F, 0},
                                {3.0F, 2},
                                {5.0F, 2},
                                {-1.0F, 0},
                                {-3.0F, -2},
                                {1.5F, 1},
                                {253.1F, 127}}) {
    BOOST_TEST(scale.code(x) == code, x);
  }
  const detail::Int8Scale zero(0);
  BOOST_TEST(zero.code(0) == 0);
  BOOST_TEST(std::isfinite(zero.inverse));
  for (const float tiny : {1e-30F, 1e-36F, 1e-38F, 1e-44F}) {
    const detail::Int8Scale small(tiny);
    BOOST_TEST(std::isnormal(small.scale));
    BOOST_TEST(std::isfinite(small.inverse));
    BOOST_TEST(small.code(tiny) <= 127);
  }
  const detail::Int8Scale large(std::numeric_limits<float>::max());
  BOOST_TEST(large.code(std::numeric_limits<float>::max()) == 127);
  for (const float bad : {infinity, not_a_number}) {
    BOOST_TEST(std::isnan(detail::Int8Scale(bad).scale));
    BOOST_TEST(detail::Int8Scale(bad).code(bad) == 0);
  }
}

BOOST_AUTO_TEST_CASE(largest_magnitudes_keep_nan) {
  const std::vector<float> x{1, not_a_number, -infinity, 2};
  const auto largest = [&](std::int64_t count) {
    return detail::largest_magnitude(count, [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; });
  };
  BOOST_TEST(largest(0) == 0);
  BOOST_TEST(largest(1) == 1);
  BOOST_TEST(std::isnan(largest(2)));
  BOOST_TEST(std::isnan(largest(4)));
}

BOOST_AUTO_TEST_CASE(the_reference_and_the_emulation_are_exact) {
  const std::int64_t sizes[][3] = {{1, 1, 1},   {3, 5, 2},    {65, 130, 33}, {16, 200, 1},
                                   {1, 3, 100}, {3, 2048, 2}, {5, 2049, 3},  {3, 4400, 4}};
  for (const auto& [m, k, n] : sizes) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
      const Tensor a = random_tensor(shape_of(m, k, ta), DType::float32, 1, -3, 3);
      const Tensor b = random_tensor(shape_of(k, n, tb), DType::float32, 2, -0.1, 0.2);
      const Tensor expected = plain(a, b, m, k, n, ta, tb);
      BOOST_TEST(run("reference", int8_product(ta, tb), {a, b}).equal(expected));
      if (!ta) BOOST_TEST(run("emulated", int8_product(ta, tb), {a, b}).equal(expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(bias_and_relu_follow_in_float32) {
  for (const std::int64_t depth : {20, 2100}) {
    const Tensor a = random_tensor({7, depth}, DType::float32, 1), b = random_tensor({depth, 9}, DType::float32, 2);
    const Tensor bias = random_tensor({9}, DType::float32, 3);
    for (const char* implementation : {"reference", "emulated"}) {
      for (const bool relu : {false, true}) {
        const Tensor expected = plain(a, b, 7, depth, 9, false, false, bias, relu);
        BOOST_TEST(run(implementation, int8_product(false, false, relu), {a, b, bias}).equal(expected));
      }
    }
  }
}

// A row of cotangents of a softmax is like that: its largest number is the target's.
BOOST_AUTO_TEST_CASE(a_large_number_rounds_its_own_group) {
  Tensor row({1, 4096}, std::vector<float>(4096, 0.001F));
  row.mutable_data<float>()[2600] = -1;
  const Tensor ones({4096, 1}, std::vector<float>(4096, 1));
  // 2,047 numbers of the second group are 0. Emulated sums of codes beyond 2^24 are even float32 numbers: each of the
  // last 1,008 products of 127 by 127 may round by 1, together 6e-5 of the result.
  const std::vector<std::pair<const char*, double>> bounds{{"reference", 1e-5}, {"emulated", 7e-5}};
  for (const auto& [implementation, bound] : bounds) {
    const double sum = run(implementation, int8_product(), {row, ones}).item();
    BOOST_TEST(sum == 2.048 - 1, boost::test_tools::tolerance(bound));
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_make_rows_and_columns_nan) {
  for (const char* implementation : {"reference", "emulated"}) {
    for (const float bad : {not_a_number, infinity, -infinity}) {
      constexpr std::size_t depth = 2100;  // two groups
      Tensor a = random_tensor({3, depth}, DType::float32, 1).copy();
      Tensor b = random_tensor({depth, 4}, DType::float32, 2).copy();
      a.mutable_data<float>()[depth + 5] = bad;
      Tensor y = run(implementation, int8_product(), {a, b});
      for (std::int64_t i = 0; i < 12; ++i) BOOST_TEST(std::isnan(y.data<float>()[i]) == (i / 4 == 1));
      y = run(implementation, int8_product(false, false, true), {a, b});  // a ReLU keeps NaN
      BOOST_TEST(std::isnan(y.data<float>()[4]));
      a.mutable_data<float>()[depth + 5] = 1;
      b.mutable_data<float>()[2 * 4 + 3] = bad;
      y = run(implementation, int8_product(), {a, b});
      for (std::int64_t i = 0; i < 12; ++i) BOOST_TEST(std::isnan(y.data<float>()[i]) == (i % 4 == 3));
    }
  }
}

BOOST_AUTO_TEST_CASE(zeros_and_tiny_rows_give_numbers) {
  for (const char* implementation : {"reference", "emulated"}) {
    const Tensor zero({2, 8}), b = random_tensor({8, 4}, DType::float32, 2);
    BOOST_TEST(run(implementation, int8_product(), {zero, b}).equal(Tensor({2, 4})));
    const Tensor tiny({1, 2}, std::vector<float>{1e-20F, -1e-20F}), two({2, 1}, std::vector<float>{1, 2});
    BOOST_TEST(run(implementation, int8_product(), {tiny, two}).item() == -1e-20, boost::test_tools::tolerance(0.01));
  }
}

BOOST_AUTO_TEST_CASE(stacks_and_double_precision) {
  const Tensor a = random_tensor({2, 3, 8}, DType::float32, 1), b = random_tensor({2, 8, 4}, DType::float32, 2);
  const Tensor y = run("reference", int8_product(), {a, b});
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto part = [&](const Tensor& x) { return x.slice(i, i + 1).reshape({x.shape()[1], x.shape()[2]}); };
    BOOST_TEST(part(y).equal(run("reference", int8_product(), {part(a), part(b)})));
  }
  const Tensor wide = run("reference", int8_product(), {a.cast(DType::float64), b.cast(DType::float64)});
  BOOST_TEST(wide.cast(DType::float32).equal(y));
  BOOST_TEST(run("reference", int8_product(), {Tensor({3, 0}), Tensor({0, 2})}).equal(Tensor({3, 2})));
}

BOOST_AUTO_TEST_CASE(only_kernels_that_quantize_are_chosen) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    for (const std::int64_t rows : {1, 64, 4096}) {
      const KernelRequest request =
          kernel_request("matmul", int8_product(), {Spec{{rows, 256}, dtype}, Spec{{256, 512}, dtype}});
      const std::string chosen = chosen_implementation(request);
      BOOST_TEST((chosen == "int8" || chosen == "emulated" || chosen == "widen"), chosen);
    }
  }
  detail::Implementation own{"own", &find_op("matmul"),
                             [](const KernelRequest&, std::string&) { return std::unique_ptr<Kernel>(); }};
  BOOST_TEST(!own.int8_products);
}

BOOST_AUTO_TEST_CASE(half_dtypes_are_quantized_from_their_own_numbers) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Tensor a = random_tensor({5, 24}, dtype, 1), b = random_tensor({24, 6}, dtype, 2);
    const Tensor wide = run("reference", int8_product(), {a.cast(DType::float32), b.cast(DType::float32)});
    BOOST_TEST(run("widen", int8_product(), {a, b}).equal(wide.cast(dtype)));
  }
}

BOOST_AUTO_TEST_CASE(other_formats_are_refused) {
  const Attributes attributes{{"transpose_a", false}, {"transpose_b", false}, {"products", std::string("int2")}};
  check_throws<NameError>("[matmul] unknown products \"int2\"; valid names: int8, int8_tiles; nearest: \"int8\"", [&] {
    kernel_request("matmul", attributes, {Spec{{2, 2}}, Spec{{2, 2}}});
  });
}

BOOST_AUTO_TEST_SUITE_END()
