#include "support/xsimd.hpp"

#include <cmath>
#include <limits>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/cpu.hpp>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Int8Product {
  std::int64_t rows = 5, depth = 9, columns = 17;
  bool transposed = false, relu = false;
  DType dtype = DType::float32, out = DType::float32;
  std::optional<DType> bias{};
};

Attributes attributes_of(const Int8Product& p) {
  Attributes attributes{{"transpose_a", false}, {"transpose_b", p.transposed}, {"products", std::string("int8")}};
  if (p.out != p.dtype) attributes.set("dtype", p.out);
  if (p.relu) attributes.set("epilogue", detail::Epilogue::relu);
  return attributes;
}

std::vector<Tensor> operands_of(const Int8Product& p) {
  std::vector<Tensor> all{
      random_tensor({p.rows, p.depth}, p.dtype, 1),
      random_tensor(p.transposed ? Shape{p.columns, p.depth} : Shape{p.depth, p.columns}, p.dtype, 2)};
  if (p.bias) all.push_back(random_tensor({p.columns}, *p.bias, 3));
  return all;
}

// Products equal those of the reference bit for bit.
void check_product(const Int8Product& p, const std::vector<Tensor>& inputs) {
  const Attributes attributes = attributes_of(p);
  const KernelRequest request = kernel_request("matmul", attributes, inputs);
  const std::vector<Tensor> expected = widened_reference("matmul", attributes, inputs, request.outputs);
  BOOST_TEST_CONTEXT(p.rows << " x " << p.depth << " x " << p.columns << (p.transposed ? " transposed" : "")) {
    for_each_int8_isa([&](Isa isa) { check_xsimd_on(isa, request, inputs, expected, 0); });
  }
}

void check_product(const Int8Product& p) { check_product(p, operands_of(p)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_int8)

BOOST_AUTO_TEST_CASE(products_of_odd_sizes) {
  for (const bool transposed : {false, true}) {
    for (const std::int64_t rows : {1, 2, 11, 12, 13, 25}) {
      for (const std::int64_t columns : {1, 15, 16, 17, 33, 64}) {
        check_product({.rows = rows, .depth = 10, .columns = columns, .transposed = transposed});
      }
    }
    for (const std::int64_t depth : {1, 3, 4, 63, 64, 65, 130}) {
      check_product({.rows = 14, .depth = depth, .columns = 40, .transposed = transposed});
    }
  }
}

BOOST_AUTO_TEST_CASE(products_of_several_blocks) {
  for (const bool transposed : {false, true}) {
    check_product({.rows = 700, .depth = 1030, .columns = 70, .transposed = transposed});
    check_product({.rows = 5, .depth = 260, .columns = 1100, .transposed = transposed});
    check_product({.rows = 60, .depth = 66, .columns = 1100, .transposed = transposed, .dtype = DType::bfloat16});
  }
}

// Few rows: each thread packs a few panels at a time. With 800 rows all panels are packed first.
BOOST_AUTO_TEST_CASE(products_in_bands_of_panels) {
  for (const bool transposed : {false, true}) {
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      for (const std::int64_t rows : {1, 37, 800}) {
        Int8Product p{.rows = rows, .depth = 2100, .columns = 300, .transposed = transposed, .dtype = dtype};
        if (rows == 37) p.bias = DType::float32;
        std::vector<Tensor> inputs = operands_of(p);
        check_product(p, inputs);
        Tensor wide = inputs[1].cast(DType::float32).copy();
        const auto place = [&](std::size_t k, std::size_t j) { return transposed ? j * 2100 + k : k * 300 + j; };
        wide.mutable_data<float>()[place(2099, 299)] = std::nanf("");
        wide.mutable_data<float>()[place(5, 0)] = std::numeric_limits<float>::infinity();
        inputs[1] = wide.cast(dtype);
        if (rows == 37) check_product(p, inputs);
      }
    }
  }
}

// The panels of a large right operand are packed group by group for each block of rows, here of 127.
BOOST_AUTO_TEST_CASE(products_with_large_operands) {
  check_product({.rows = 130, .depth = 131072, .columns = 129, .dtype = DType::bfloat16});
}

BOOST_AUTO_TEST_CASE(dtypes_biases_and_relu) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const DType out : {DType::float32, DType::bfloat16}) {
      for (const DType bias : {DType::float32, dtype}) {
        for (const bool relu : {false, true}) {
          check_product(
              {.rows = 30, .depth = 70, .columns = 45, .relu = relu, .dtype = dtype, .out = out, .bias = bias});
        }
      }
    }
  }
}

// Plans flush denormals. Then rows of whole panels are written without branches.
BOOST_AUTO_TEST_CASE(whole_panels_in_plans) {
  const detail::ComputeScope computing;
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const bool relu : {false, true}) {
      for (const bool biased : {false, true}) {
        Int8Product p{.rows = 14, .depth = 70, .columns = 96, .relu = relu, .dtype = dtype, .out = dtype};
        if (biased) p.bias = DType::float32;
        std::vector<Tensor> inputs = operands_of(p);
        check_product(p, inputs);
        Tensor wide = inputs[0].cast(DType::float32).copy();
        auto* const a = wide.mutable_data<float>();
        a[3] = std::nanf("");
        a[70 + 69] = -std::numeric_limits<float>::infinity();
        for (std::size_t k = 0; k < 70; ++k) a[std::size_t{5} * 70 + k] = -0.0F;
        inputs[0] = wide.cast(dtype);
        check_product(p, inputs);
      }
    }
    for (std::int64_t rows = 1; rows < 26; ++rows) {
      check_product({.rows = rows, .depth = 133, .columns = 37, .dtype = dtype, .out = DType::bfloat16});
    }
    check_product({.rows = 2100, .depth = 130, .columns = 64, .dtype = dtype});
  }
}

BOOST_AUTO_TEST_CASE(leading_axes) {
  const Int8Product p{.dtype = DType::bfloat16, .out = DType::bfloat16};
  check_product(p, {random_tensor({3, 4, 9}, DType::bfloat16, 1), random_tensor({9, 17}, DType::bfloat16, 2)});
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_stay) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const bool transposed : {false, true}) {
      const Int8Product p{
          .rows = 14, .depth = 70, .columns = 33, .transposed = transposed, .relu = true, .dtype = dtype, .out = dtype};
      std::vector<Tensor> inputs = operands_of({.rows = 14, .depth = 70, .columns = 33, .transposed = transposed});
      constexpr std::size_t depth = 70, columns = 33;
      float* const a = inputs[0].mutable_data<float>();
      a[3] = std::nanf("");
      a[depth + 69] = std::numeric_limits<float>::infinity();
      a[2 * depth] = -std::numeric_limits<float>::infinity();
      for (std::size_t k = 0; k < depth; ++k) a[5 * depth + k] = 0;
      float* const b = inputs[1].mutable_data<float>();
      const auto place = [&](std::size_t k, std::size_t j) { return transposed ? j * depth + k : k * columns + j; };
      b[place(69, 32)] = -std::nanf("");
      b[place(0, 20)] = std::numeric_limits<float>::infinity();
      for (std::size_t k = 0; k < depth; ++k) b[place(k, 7)] = 0;
      for (Tensor& input : inputs) input = input.cast(dtype);
      check_product(p, inputs);
      if (!has_int8_products()) continue;
      std::string reason;
      const KernelRequest request = kernel_request("matmul", attributes_of(p), inputs);
      const auto kernel = xsimd_kernel(request, isa(), reason);
      const std::vector<double> out = run_kernel(*kernel, request, inputs)[0].to_doubles();
      BOOST_TEST(std::isnan(out[0]));                 // a row with NaN
      BOOST_TEST(std::isnan(out[columns]));           // a row with infinity
      BOOST_TEST(std::isnan(out[4 * columns + 32]));  // a column with NaN
      BOOST_TEST(std::isnan(out[4 * columns + 20]));  // a column with infinity
      BOOST_TEST(out[5 * columns] == 0);              // a row of zeros
      BOOST_TEST(out[4 * columns + 7] == 0);          // a column of zeros
    }
  }
}

BOOST_AUTO_TEST_CASE(smallest_and_largest_numbers) {
  for (const double scale : {0x1p-148, 0x1p-130, 0x1p-119, 0x1p-60, 0x1p60, 0x1p126}) {
    Int8Product p{.rows = 13, .depth = 40, .columns = 20};
    std::vector<Tensor> inputs = operands_of(p);
    for (std::int64_t i = 0; i < inputs[0].size(); ++i) {
      float& x = inputs[0].mutable_data<float>()[i];
      x = static_cast<float>(x * scale);
    }
    check_product(p, inputs);
  }
}

BOOST_AUTO_TEST_CASE(ties_round_to_even) {
  // The largest magnitude is 127, so numbers are in units of codes.
  Tensor a({2, 6}, std::vector<float>{127, 0.5, 1.5, 2.5, -0.5, -2.5, -127, 3.5, 126.5, -125.5, 0, 1});
  Tensor b({6, 2}, std::vector<float>{1, 127, 10, 0.5, 1, 1.5, 100, 2.5, 127, -3.5, 20, 0});
  check_product({}, {a, b});
}

BOOST_AUTO_TEST_CASE(constants_are_packed_once) {
  if (!has_int8_products()) return skip("needs AVX512_VNNI");
  const Int8Product p{.rows = 40, .depth = 64, .columns = 48, .dtype = DType::bfloat16, .out = DType::bfloat16};
  const std::vector<Tensor> inputs = operands_of(p);
  check_packed_once(kernel_request("matmul", attributes_of(p), inputs), inputs, {1});
}

BOOST_AUTO_TEST_CASE(other_products_are_declined) {
  const auto reason_of = [](const Attributes& attributes, const std::vector<Tensor>& inputs) {
    std::string reason;
    BOOST_TEST(create_kernel("int8", kernel_request("matmul", attributes, inputs), reason) == nullptr);
    return reason;
  };
  const Int8Product p;
  const std::vector<Tensor> inputs = operands_of(p);
  const Attributes plain{{"transpose_a", false}, {"transpose_b", false}};
  BOOST_TEST(reason_of(plain, inputs) == "declined without a reason");
  if (!has_int8_products()) {
    BOOST_TEST(reason_of(attributes_of(p), inputs) == "needs AVX-512 with VNNI");
    return skip("needs AVX512_VNNI");
  }
  BOOST_TEST(reason_of(attributes_of(p), operands_of({.dtype = DType::float16})) ==
             "takes float32 and bfloat16; got float16");
  BOOST_TEST(reason_of(attributes_of(p), {Tensor({2, 5, 9}), Tensor({2, 9, 17})}) ==
             "takes a plain left operand and one matrix");
  BOOST_TEST(reason_of(attributes_of(p), {Tensor({1, 131073}), Tensor({131073, 1})}) ==
             "takes sums of at most 131072 terms; got 131073");
  BOOST_TEST(reason_of(attributes_of(p), {Tensor({0, 9}), inputs[1]}) ==
             "takes operands with elements; got shape (0, 9)");
}

BOOST_AUTO_TEST_SUITE_END()
