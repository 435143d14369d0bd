#include <boost/test/unit_test.hpp>

#include "support/kernels.hpp"
#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Operands of a product, the left one with a leading axis.
std::vector<Tensor> operands_of(std::int64_t rows, std::int64_t depth, std::int64_t columns, bool transposed,
                                DType dtype) {
  const Shape matrix = transposed ? Shape{columns, depth} : Shape{depth, columns};
  return {random_tensor({rows, 1, depth}, dtype, 1), random_tensor(matrix, dtype, 2)};
}

Attributes attributes_of(bool transposed) { return {{"transpose_a", false}, {"transpose_b", transposed}}; }

std::int64_t most_rows(DType dtype, bool transposed) {
  return dtype == DType::float16 || (dtype == DType::bfloat16 && !transposed) ? 8 : 1;
}

std::string reason_of(const std::vector<Tensor>& inputs, const Attributes& attributes) {
  std::string reason;
  BOOST_TEST(xsimd_kernel(kernel_request("matmul", attributes, inputs), isa(), reason) == nullptr);
  return reason;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_few_rows)

BOOST_AUTO_TEST_CASE(products_of_1_to_8_rows) {
  for (const DType dtype : xsimd_dtypes) {
    for (const bool transposed : {false, true}) {
      for (std::int64_t rows = 1; rows <= most_rows(dtype, transposed); ++rows) {
        check_xsimd("matmul", attributes_of(transposed), operands_of(rows, 99, 700, transposed, dtype), 1e-4);
      }
      check_xsimd("matmul", attributes_of(transposed), operands_of(1, 1024, 64, transposed, dtype), 1e-4);
    }
  }
}

BOOST_AUTO_TEST_CASE(biases_in_both_dtypes) {
  for (const DType dtype : xsimd_dtypes) {
    for (const DType wide : {dtype, DType::float32}) {
      std::vector<Tensor> inputs = operands_of(most_rows(dtype, false), 99, 700, false, dtype);
      inputs.push_back(random_tensor({700}, wide, 3));
      check_xsimd("matmul", attributes_of(false), inputs, 1e-4);
    }
  }
}

BOOST_AUTO_TEST_CASE(other_products_are_declined) {
  const auto small = [](std::int64_t rows, std::int64_t columns, DType dtype = DType::float32,
                        bool transposed = false) { return operands_of(rows, 256, columns, transposed, dtype); };
  const std::string sizes = " with at least 65536 numbers; got ";
  BOOST_TEST(reason_of(small(2, 256), attributes_of(false)) ==
             "multiplies at most 1 rows of float32" + sizes + "2 and 65536");
  BOOST_TEST(reason_of(small(9, 256, DType::bfloat16), attributes_of(false)) ==
             "multiplies at most 8 rows of bfloat16" + sizes + "9 and 65536");
  BOOST_TEST(reason_of(small(2, 256, DType::bfloat16, true), attributes_of(true)) ==
             "multiplies at most 1 rows of bfloat16" + sizes + "2 and 65536");
  BOOST_TEST(reason_of(small(1, 255), attributes_of(false)) ==
             "multiplies at most 1 rows of float32" + sizes + "1 and 65280");
  const std::string form = "takes a plain left operand, one matrix and no ReLU";
  Attributes relu = attributes_of(false);
  relu.set("epilogue", detail::Epilogue::relu);
  BOOST_TEST(reason_of(small(1, 256), relu) == form);
  BOOST_TEST(reason_of({Tensor({256, 2}), Tensor({256, 256})}, {{"transpose_a", true}, {"transpose_b", false}}) ==
             form);
  BOOST_TEST(reason_of({Tensor({2, 1, 256}), Tensor({2, 256, 256})}, attributes_of(false)) == form);
}

BOOST_AUTO_TEST_SUITE_END()
