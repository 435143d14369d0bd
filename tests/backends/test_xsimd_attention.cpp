#include <boost/test/unit_test.hpp>

#include "ops/attention.hpp"
#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// The tolerance is that of float32 sums with a term for each key.
constexpr double tolerance = 1e-5;

void check_both(const AttentionCase& c, DType dtype) {
  const std::string op = "scaled_dot_product_attention";
  std::vector<Tensor> rest;
  if (c.masked()) rest.push_back(c.biased() ? c.mask.cast(DType::float32) : c.mask);
  for (const Tensor& operand : dropout_operands(c)) rest.push_back(operand);
  std::vector<Tensor> inputs{random_tensor(c.query(), dtype, 1), random_tensor(c.key(), dtype, 2),
                             random_tensor(c.value(), dtype, 3)};
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), rest.begin(), rest.end());
  check_xsimd(op, c.attributes(), all, tolerance);
  const std::vector<Spec> outputs{{c.result(), dtype}, {c.logarithms(), DType::float32}};
  const std::vector<Tensor> results = widened_reference(op, c.attributes(), all, outputs);
  inputs.insert(inputs.begin(), random_tensor(c.result(), dtype, 4));
  inputs.insert(inputs.end(), results.begin(), results.end());
  inputs.insert(inputs.end(), rest.begin(), rest.end());
  check_xsimd(op + "_gradient", c.attributes(), inputs, tolerance);
}

AttentionCase of_sizes(std::int64_t queries, std::int64_t keys, std::int64_t size, std::int64_t value_size) {
  AttentionCase c;
  c.queries = queries;
  c.keys = keys;
  c.size = size;
  c.value_size = value_size;
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_attention)

BOOST_AUTO_TEST_CASE(sizes) {
  for (const DType dtype : xsimd_dtypes) {
    for (const AttentionCase& c : {of_sizes(1, 1, 1, 1), of_sizes(1, 9, 8, 8), of_sizes(49, 3, 16, 7),
                                   of_sizes(3, 130, 5, 33), of_sizes(100, 100, 32, 32), of_sizes(65, 64, 64, 64)}) {
      for (const bool causal : {false, true}) {
        AttentionCase either = c;
        either.causal = causal;
        check_both(either, dtype);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(one_query_with_a_cache) {
  const std::int64_t batch = 3, heads = 6, capacity = 400;
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t groups : {1, 2, 6}) {
      for (const std::int64_t size : {5, 64, 72}) {
        for (const int position : {0, 3, 255, 400}) {
          check_xsimd(
              "cached_attention", {{"scale", 0.25}},
              {random_tensor({batch, 1, heads, size}, dtype, 1), random_tensor({batch, 1, groups, size}, dtype, 2),
               random_tensor({batch, 1, groups, size + 1}, dtype, 3),
               random_tensor({batch, groups, capacity, size}, dtype, 4),
               random_tensor({batch, groups, capacity, size + 1}, dtype, 5),
               Tensor({}, std::vector<std::int32_t>{position})},
              tolerance);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(masks_and_dropout) {
  AttentionCase c = of_sizes(60, 70, 16, 16);
  for (const DType dtype : xsimd_dtypes) {
    for (const Shape& shape : {Shape{2, 1, 1, 70}, Shape{60, 70}, Shape{1, 3, 60, 70}}) {
      for (const bool additive : {false, true}) {
        for (const double rate : {0.0, 0.3}) {
          for (const bool causal : {false, true}) {
            c.mask = additive ? uniform(shape, -2, 2, 7) : integers(shape, DType::boolean, 0, 2);
            c.rate = rate;
            c.causal = causal;
            check_both(c, dtype);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(dropout_of_a_part_of_a_batch) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t first : {1, 6}) {
      AttentionCase c = of_sizes(60, 70, 16, 16);
      c.rate = 0.3;
      c.first_sample = first;
      check_both(c, dtype);
      c.mask = integers({60, 70}, DType::boolean, 0, 2);
      check_both(c, dtype);
    }
  }
}

BOOST_AUTO_TEST_CASE(queries_that_see_no_key_give_zeros) {
  AttentionCase c = of_sizes(50, 40, 8, 8);
  c.mask = Tensor({2, 1, 1, 40}, DType::boolean);
  check_both(c, DType::float32);
  c.mask = Tensor({40}, std::vector<double>(40, -std::numeric_limits<double>::infinity()));
  check_both(c, DType::float32);
}

BOOST_AUTO_TEST_CASE(scratch_holds_only_blocks_of_scores) {
  const AttentionCase c = of_sizes(4096, 4096, 16, 16);
  const Spec q{c.query(), DType::float32}, result{c.result(), DType::float32};
  std::string reason;
  const auto scratch = [&](const std::string& op, const std::vector<Spec>& inputs) {
    return xsimd_kernel(kernel_request(op, c.attributes(), inputs), isa(), reason)->scratch_bytes();
  };
  const auto threads = static_cast<std::size_t>(thread_count());
  const std::size_t scores = std::size_t{4096} * 4096 * sizeof(float) * threads;
  BOOST_TEST(scratch("scaled_dot_product_attention", {q, q, q}) < scores / 10);
  BOOST_TEST(scratch("scaled_dot_product_attention_gradient",
                     {result, q, q, q, result, {c.logarithms(), DType::float32}}) < scores / 10);
}

BOOST_AUTO_TEST_CASE(declines) {
  const AttentionCase c;
  std::string reason;
  const Spec q{c.query(), DType::float64};
  BOOST_TEST(!xsimd_kernel(kernel_request("scaled_dot_product_attention", c.attributes(),
                                          std::vector<Spec>{q, {c.key(), q.dtype}, {c.value(), q.dtype}}),
                           isa(), reason));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got float64");
}

BOOST_AUTO_TEST_SUITE_END()
