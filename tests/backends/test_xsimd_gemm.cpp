#include "support/xsimd.hpp"

#include <cmath>
#include <limits>

#include <mezzo/backends/xsimd/gemm/gemm_blocking.hpp>

#include "support/onednn.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Product {
  std::int64_t rows, depth, columns;
  bool transpose_a = false, transpose_b = false;
  DType dtype = DType::float32, out = DType::float32;

  Attributes attributes() const { return {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"dtype", out}}; }

  std::vector<Tensor> operands() const {
    return {random_tensor(transpose_a ? Shape{depth, rows} : Shape{rows, depth}, dtype, 1),
            random_tensor(transpose_b ? Shape{columns, depth} : Shape{depth, columns}, dtype, 2)};
  }

  /// Four standard deviations of the rounding error, as in the tests of sums of outer products, and a rounding of the
  /// result to bfloat16.
  double tolerance() const {
    const double rounding = out == DType::bfloat16 ? 1.01 / 256 : 0;
    return rounding + 2e-6 + 3e-8 * static_cast<double>(depth);
  }
};

/// The product with all transpositions.
std::vector<Product> turned(std::int64_t rows, std::int64_t depth, std::int64_t columns, DType dtype = DType::float32,
                            DType out = DType::float32) {
  std::vector<Product> all;
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) all.push_back({rows, depth, columns, a, b, dtype, out});
  }
  return all;
}

/// The same with operands in bfloat16 and results in bfloat16 or float32, and rounded results of float32.
std::vector<Product> turned_halves(std::int64_t rows, std::int64_t depth, std::int64_t columns) {
  std::vector<Product> all;
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const DType out : {DType::float32, DType::bfloat16}) {
      if (dtype == DType::float32 && out == DType::float32) continue;
      for (const Product& product : turned(rows, depth, columns, dtype, out)) all.push_back(product);
    }
  }
  return all;
}

/// Compares the kernel of each instruction set with `expected`; numbers of threads and unaligned operands must change
/// no bit.
void check(const KernelRequest& request, const std::vector<Tensor>& inputs, const Tensor& expected, double tolerance) {
  for_each_isa([&](Isa isa) {
    const int threads = thread_count();
    Tensor first;
    for (const int some : {1, 2, 3, 8}) {
      set_thread_count(some);
      std::string reason;
      const auto kernel = xsimd_gemm_kernel(request, isa, reason);
      BOOST_TEST_REQUIRE(kernel != nullptr, reason);
      const Tensor result = run_kernel(*kernel, request, inputs)[0];
      if (some > 1) {
        BOOST_TEST(result.equal(first), "differs on " << some << " threads");
        continue;
      }
      first = result;
      const double difference = largest_difference(result, expected);
      BOOST_TEST(difference <= tolerance, "differs by " << difference);
      BOOST_TEST(same_unaligned(*kernel, inputs, {result}), "unaligned inputs, or a write past the end");
      set_thread_count(3);  // a kernel that was made for another number
      BOOST_TEST(run_kernel(*kernel, request, inputs)[0].equal(first));
    }
    set_thread_count(threads);
  });
}

void check(const Product& product) {
  const std::vector<Tensor> inputs = product.operands();
  const KernelRequest request = kernel_request("matmul", product.attributes(), inputs);
  BOOST_TEST_CONTEXT(fmt::format("{} {} {}, transposed: {} {}, {} to {}", product.rows, product.depth, product.columns,
                                 product.transpose_a, product.transpose_b, product.dtype, product.out)) {
    check(request, inputs, exact_result("matmul", product.attributes(), inputs), product.tolerance());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_gemm)

BOOST_AUTO_TEST_CASE(products_of_odd_sizes) {
  for (const std::int64_t rows : {1, 2, 5, 6, 7, 13, 25}) {
    for (const std::int64_t columns : {1, 7, 8, 9, 16, 17, 33, 65}) {
      for (const Product& product : turned(rows, 9, columns)) check(product);
    }
  }
  for (const std::int64_t depth : {1, 3, 8, 17}) {
    for (const Product& product : turned(11, depth, 20)) check(product);
  }
}

BOOST_AUTO_TEST_CASE(products_in_pieces) {
  for (const Product& product : turned(37, 1100, 70)) check(product);    // of the depth
  for (const Product& product : turned(67, 161, 1003)) check(product);   // of the columns
  for (const Product& product : turned(1003, 161, 35)) check(product);   // of the rows
  for (const Product& product : turned(230, 1024, 150)) check(product);  // of all, with rows that are copied
}

BOOST_AUTO_TEST_CASE(products_of_bfloat16) {
  for (const std::int64_t rows : {1, 7, 25}) {
    for (const std::int64_t columns : {1, 9, 33}) {
      for (const Product& product : turned_halves(rows, 9, columns)) check(product);
    }
  }
  for (const Product& product : turned_halves(37, 1100, 70)) check(product);  // in pieces of the depth
  const DType half = DType::bfloat16;
  for (const Product& product : turned(67, 161, 1003, half, half)) check(product);  // of the columns
  for (const Product& product : turned(1003, 161, 35, half, half)) check(product);  // of the rows
}

BOOST_AUTO_TEST_CASE(orders_of_loops_in_bfloat16) {
  const auto check_order = [](const Product& product, bool keeps_panels, bool keeps_sums) {
    const auto blocking = xsimd_kernels::gemm_blocking({.rows = product.rows,
                                                        .depth = product.depth,
                                                        .columns = product.columns,
                                                        .transpose_a = product.transpose_a,
                                                        .narrow_a = true},
                                                       6, 16, 1);
    BOOST_TEST(blocking.keeps_panels == keeps_panels);
    BOOST_TEST(blocking.keeps_sums == keeps_sums);
    check(product);
  };
  const DType half = DType::bfloat16;
  check_order({40, 700, 4000, false, false, half, half}, false, false);
  check_order({4000, 700, 40, true, true, half, half}, true, false);
  check_order({300, 9000, 20, true, false, half, half}, true, true);
  check_order({20, 9000, 300, false, true, half, half}, false, true);
}

BOOST_AUTO_TEST_CASE(sums_of_long_products_are_kept) {
  for (const Product& product : turned(256, 4096, 4096)) {
    const auto blocking = xsimd_kernels::gemm_blocking({.rows = product.rows,
                                                        .depth = product.depth,
                                                        .columns = product.columns,
                                                        .transpose_a = product.transpose_a,
                                                        .transpose_b = product.transpose_b},
                                                       6, 16, 2);
    BOOST_TEST(blocking.terms > 1);
    BOOST_TEST(blocking.keeps_sums);
  }
}

// Threads share sums in float32, and each has a copy of a part of the factors.
BOOST_AUTO_TEST_CASE(scratch_memory_is_bounded) {
  const int threads = thread_count();
  const DType half = DType::bfloat16;
  for (const Product& product :
       {Product{256, 4096, 4096}, Product{256, 4096, 4096, false, true}, Product{4096, 256, 4096, true, false},
        Product{256, 4096, 4096, false, false, half, half}, Product{768, 16384, 3072, true, false, half, half},
        Product{512, 500000, 512, true, false, half, half}, Product{500000, 512, 512, false, false, half, half}}) {
    const Shape a = product.transpose_a ? Shape{product.depth, product.rows} : Shape{product.rows, product.depth};
    const Shape b = product.transpose_b ? Shape{product.columns, product.depth} : Shape{product.depth, product.columns};
    const KernelRequest request =
        kernel_request("matmul", product.attributes(), std::vector<Spec>{{a, product.dtype}, {b, product.dtype}});
    for (const int some : {1, 2, 8}) {
      set_thread_count(some);
      std::string reason;
      const auto kernel = xsimd_gemm_kernel(request, Isa::sse2, reason);
      BOOST_TEST_REQUIRE(kernel != nullptr, reason);
      const double sums = product.out == half ? 4.0 * static_cast<double>(product.rows * product.columns) : 0;
      // A kept factor of 8 MiB, chunks of the other one, and rows at a distance that spreads over the cache.
      BOOST_TEST(static_cast<double>(kernel->scratch_bytes()) <= 1.2 * sums + some * 20e6);
    }
    set_thread_count(threads);
  }
}

BOOST_AUTO_TEST_CASE(biases_and_relu_in_bfloat16) {
  for (const DType bias : {DType::float32, DType::bfloat16}) {
    for (const std::int64_t depth : {40, 1100}) {
      Product product{29, depth, 53, false, false, DType::bfloat16, DType::bfloat16};
      std::vector<Tensor> inputs = product.operands();
      inputs.push_back(random_tensor({53}, bias, 3, -4, 4));
      const Attributes attributes = with_attribute(product.attributes(), "epilogue", detail::Epilogue::relu);
      check(kernel_request("matmul", attributes, inputs), inputs, exact_result("matmul", attributes, inputs),
            product.tolerance());
    }
  }
}

BOOST_AUTO_TEST_CASE(biases_and_relu) {
  for (const bool relu : {false, true}) {
    for (const std::int64_t depth : {40, 1100}) {
      Product product{29, depth, 53};
      std::vector<Tensor> inputs = product.operands();
      inputs.push_back(random_tensor({53}, DType::float32, 3, -4, 4));
      Attributes attributes = product.attributes();
      if (relu) attributes.set("epilogue", detail::Epilogue::relu);
      check(kernel_request("matmul", attributes, inputs), inputs, run_reference("matmul", attributes, inputs)[0],
            product.tolerance());
    }
  }
}

BOOST_AUTO_TEST_CASE(leading_axes_are_rows) {
  const std::vector<Tensor> inputs{random_tensor({3, 5, 4, 30}, DType::float32, 1),
                                   random_tensor({18, 30}, DType::float32, 2)};
  const Attributes attributes = Product{0, 0, 0, false, true}.attributes();
  check(kernel_request("matmul", attributes, inputs), inputs, run_reference("matmul", attributes, inputs)[0], 1e-5);
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_stay) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const bool relu : {false, true}) {
    for (Product product : turned(14, 300, 19)) {
      std::vector<Tensor> inputs = product.operands();
      inputs.push_back(random_tensor({19}, DType::float32, 3));
      inputs[0].mutable_data<float>()[5] = std::nanf("");
      inputs[0].mutable_data<float>()[700] = infinity;
      inputs[1].mutable_data<float>()[310] = -infinity;
      inputs[2].mutable_data<float>()[4] = std::nanf("");
      inputs[2].mutable_data<float>()[6] = -infinity;
      Attributes attributes = product.attributes();
      if (relu) attributes.set("epilogue", detail::Epilogue::relu);
      const Tensor expected = run_reference("matmul", attributes, inputs)[0];
      check(kernel_request("matmul", attributes, inputs), inputs, expected, product.tolerance());
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_stay_in_bfloat16) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t depth : {300, 1100}) {  // in one piece, and in pieces with sums between them
    for (const bool relu : {false, true}) {
      for (const Product& product : turned(14, depth, 19, DType::bfloat16, DType::bfloat16)) {
        std::vector<Tensor> inputs = product.operands();
        inputs[0].mutable_data<bfloat16>()[5] = bfloat16(std::nanf(""));
        inputs[0].mutable_data<bfloat16>()[2 * depth + 100] = bfloat16(infinity);
        inputs[1].mutable_data<bfloat16>()[310] = bfloat16(-infinity);
        Attributes attributes = product.attributes();
        if (relu) attributes.set("epilogue", detail::Epilogue::relu);
        check(kernel_request("matmul", attributes, inputs), inputs, exact_result("matmul", attributes, inputs),
              product.tolerance());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(subnormal_numbers_are_kept) {
  for (const Product& product : turned(7, 3, 18)) {
    std::vector<Tensor> inputs = product.operands();
    for (std::int64_t i = 0; i < inputs[0].size(); ++i) inputs[0].mutable_data<float>()[i] = 0x1p-140F;
    for (std::int64_t i = 0; i < inputs[1].size(); ++i) inputs[1].mutable_data<float>()[i] = 2;
    const Tensor expected(Shape{7, 18}, std::vector<float>(std::size_t{7} * 18, 6 * 0x1p-140F));
    const KernelRequest request = kernel_request("matmul", product.attributes(), inputs);
    for_each_isa([&](Isa isa) {
      std::string reason;
      const auto kernel = xsimd_gemm_kernel(request, isa, reason);
      BOOST_TEST(run_kernel(*kernel, request, inputs)[0].equal(expected));
    });
  }
}

BOOST_AUTO_TEST_CASE(subnormal_numbers_are_kept_in_bfloat16) {
  for (const Product& product : turned(7, 3, 18, DType::bfloat16, DType::bfloat16)) {
    std::vector<Tensor> inputs = product.operands();
    for (std::int64_t i = 0; i < inputs[0].size(); ++i) {
      inputs[0].mutable_data<bfloat16>()[i] = bfloat16(0x1p-130F);
    }
    for (std::int64_t i = 0; i < inputs[1].size(); ++i) inputs[1].mutable_data<bfloat16>()[i] = bfloat16(2.0F);
    const Tensor expected =
        Tensor(Shape{7, 18}, std::vector<float>(std::size_t{7} * 18, 6 * 0x1p-130F)).cast(DType::bfloat16);
    const KernelRequest request = kernel_request("matmul", product.attributes(), inputs);
    for_each_isa([&](Isa isa) {
      std::string reason;
      const auto kernel = xsimd_gemm_kernel(request, isa, reason);
      BOOST_TEST(run_kernel(*kernel, request, inputs)[0].equal(expected));
    });
  }
}

BOOST_AUTO_TEST_CASE(exact_products_are_exact) {
  for (const Product& product : turned(130, 700, 90)) {
    const std::vector<Tensor> shapes = product.operands();
    const std::vector<Tensor> inputs{small_integers(shapes[0].shape(), DType::float32, 1),
                                     small_integers(shapes[1].shape(), DType::float32, 2)};
    const KernelRequest request = kernel_request("matmul", product.attributes(), inputs);
    check(request, inputs, exact_result("matmul", product.attributes(), inputs).cast(DType::float32), 0);
  }
}

BOOST_AUTO_TEST_CASE(exact_products_are_rounded_to_nearest) {
  for (const Product& product : turned(130, 700, 90, DType::bfloat16, DType::bfloat16)) {
    const std::vector<Tensor> shapes = product.operands();
    const std::vector<Tensor> inputs{small_integers(shapes[0].shape(), DType::bfloat16, 1),
                                     small_integers(shapes[1].shape(), DType::bfloat16, 2)};
    const KernelRequest request = kernel_request("matmul", product.attributes(), inputs);
    check(request, inputs, exact_result("matmul", product.attributes(), inputs).cast(DType::bfloat16), 0);
  }
}

BOOST_AUTO_TEST_CASE(other_products_are_declined) {
  const auto reason_of = [](std::vector<Spec> inputs, Attributes attributes = Product{}.attributes()) {
    std::string reason;
    const auto kernel =
        xsimd_gemm_kernel(kernel_request("matmul", std::move(attributes), std::move(inputs)), Isa::sse2, reason);
    BOOST_TEST(kernel == nullptr);
    return reason;
  };
  const Spec matrix{{20, 20}, DType::float32}, stack{{2, 20, 20}, DType::float32}, half{{20, 20}, DType::float16};
  BOOST_TEST(reason_of({half, half}) == "takes float32 and bfloat16; got float16");
  BOOST_TEST(reason_of({matrix, matrix, {{20}, DType::float16}}) == "takes float32 and bfloat16; got float16");
  BOOST_TEST(reason_of({stack, stack}) == "takes one matrix as the right operand; got shape (2, 20, 20)");
  BOOST_TEST(reason_of({matrix, matrix}, with_attribute(Product{}.attributes(), "dtype", DType::float16)) ==
             "takes float32 and bfloat16; got float16");
  KernelRequest wide = kernel_request("matmul", Product{}.attributes(), std::vector<Spec>{matrix, matrix});
  wide.inputs.push_back(matrix);
  wide.attributes.set("residual", true);
  std::string reason;
  BOOST_TEST(!xsimd_gemm_kernel(wide, Isa::sse2, reason));
  BOOST_TEST(reason == "takes no residual and no upper limit");
}

BOOST_AUTO_TEST_CASE(chosen_by_instruction_set_and_shape) {
  const auto chosen = [](const Product& product) {
    return chosen_implementation(kernel_request("matmul", product.attributes(), product.operands()));
  };
  std::string reason;
  const KernelRequest empty =
      kernel_request("matmul", Product{}.attributes(), std::vector<Tensor>{Tensor({0, 40}), Tensor({40, 40})});
  BOOST_TEST(!create_kernel("gemm", empty, reason));
  BOOST_TEST(reason == "takes operands with elements; got shape (0, 40)");
  const Product large{128, 784, 512};
  if (isa() != Isa::avx2) {
    BOOST_TEST(chosen(large) != "gemm");
    BOOST_TEST(!create_kernel("gemm", kernel_request("matmul", large.attributes(), large.operands()), reason));
    BOOST_TEST(reason == "declined without a reason");
    return;
  }
  for (const Product& product : turned(128, 784, 512)) BOOST_TEST(chosen(product) == "gemm");
  for (const std::int64_t rows : {16, 5000}) {
    for (const Product& product : turned(rows, 128, 40, DType::bfloat16)) BOOST_TEST(chosen(product) == "gemm");
  }
  BOOST_TEST(chosen({128, 7680, 512, true, false, DType::bfloat16}) == "gemm");  // sums over many rows
  BOOST_TEST(chosen({15, 784, 512, false, false, DType::bfloat16, DType::bfloat16}) == "widen");
  for (const Product& product :
       {Product{15, 784, 512}, Product{1024, 784, 512}, Product{128, 15, 512}, Product{128, 784, 31}}) {
    BOOST_TEST(chosen(product) == "onednn");
  }
}

BOOST_AUTO_TEST_SUITE_END()
