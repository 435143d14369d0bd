#include <boost/test/unit_test.hpp>

#include <mezzo/backends/onednn/implementations.hpp>

#include "support/onednn.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Product {
  std::int64_t rows, columns, depth;
  Shape stack;          // leading axes
  bool shared = false;  // b is one matrix without leading axes
  bool transpose_a = false, transpose_b = false, relu = false;
  int bias = 0;  // 1: in float32, 2: in the operands' dtype
  DType out = DType::float32;
};

OneDnnCase make_case(const Product& p, DType dtype) {
  Shape a = p.stack, b = p.shared ? Shape{} : p.stack;
  a.insert(a.end(), {p.transpose_a ? p.depth : p.rows, p.transpose_a ? p.rows : p.depth});
  b.insert(b.end(), {p.transpose_b ? p.columns : p.depth, p.transpose_b ? p.depth : p.columns});
  OneDnnCase c{"matmul",
               {{"transpose_a", p.transpose_a},
                {"transpose_b", p.transpose_b},
                {"dtype", p.out},
                {"epilogue", p.relu ? detail::Epilogue::relu : detail::Epilogue::none}},
               {a, b},
               {dtype, dtype}};
  if (p.bias > 0) {
    c.shapes.push_back({p.columns});
    c.dtypes.push_back(p.bias == 1 ? DType::float32 : dtype);
  }
  return c;
}

void check(const Product& product, DType dtype) {
  const OneDnnCase c = make_case(product, dtype);
  BOOST_TEST_CONTEXT(c.describe()) { BOOST_TEST(compare_with_reference(c, static_cast<double>(product.depth)) == ""); }
}

/// Checks every combination of layout, stack, bias, activation and output dtype.
void check_all_forms(DType dtype) {
  for (int bits = 0; bits < 8; ++bits) {
    for (int bias = 0; bias < 3; ++bias) {
      for (const DType out : {DType::float32, dtype}) {
        Product p{5, 18, 33, {}};
        p.transpose_a = (bits & 1) != 0;
        p.transpose_b = (bits & 2) != 0;
        p.relu = (bits & 4) != 0;
        p.bias = bias;
        p.out = out;
        check(p, dtype);
        p.stack = {2, 3};
        check(p, dtype);
        if (p.transpose_a) continue;
        p.shared = true;
        check(p, dtype);
      }
    }
  }
}

void check_sizes(DType dtype) {
  for (const std::int64_t rows : {1, 2, 17, 64}) {
    for (const std::int64_t columns : {1, 10, 33, 128}) {
      for (const std::int64_t depth : {1, 3, 32, 100}) {
        check({rows, columns, depth, {}, false, depth == 3, rows == 2, false, 1, dtype}, dtype);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_matmul)

BOOST_AUTO_TEST_CASE(all_forms_in_float32) { check_all_forms(DType::float32); }

BOOST_AUTO_TEST_CASE(all_forms_in_bfloat16) {
  if (!onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
  check_all_forms(DType::bfloat16);
}

BOOST_AUTO_TEST_CASE(sizes_in_float32) { check_sizes(DType::float32); }

BOOST_AUTO_TEST_CASE(sizes_in_bfloat16) {
  if (!onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
  check_sizes(DType::bfloat16);
}

BOOST_AUTO_TEST_CASE(layers_of_the_benchmarks) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    if (dtype == DType::bfloat16 && !onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
    check({32, 512, 784, {}, false, false, false, true, 1, dtype}, dtype);
    check({32, 784, 512, {}, false, false, true, false, 0, dtype}, dtype);
    check({784, 512, 32, {}, false, true, false, false, 0, DType::float32}, dtype);
    check({32, 10, 1600, {}, false, false, false, false, 1, DType::float32}, dtype);
  }
}

BOOST_AUTO_TEST_SUITE_END()
