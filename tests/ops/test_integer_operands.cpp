#include <boost/test/unit_test.hpp>

#include <mezzo/graph/scope.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/precision.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<DType> integer_dtypes{DType::int8,  DType::int16, DType::int32,
                                        DType::int64, DType::uint8, DType::boolean};

// Small numbers, 1 at least where logarithms and quotients are taken; the same in every dtype.
Value numbers(DType dtype) { return Tensor({2, 2}, std::vector<double>{1, 0, 1, 1}).cast(dtype); }
Value ones(DType dtype) { return Tensor({2, 2}, std::vector<double>(4, 1)).cast(dtype); }

struct Case {
  const char* op;
  Value (*call)(DType dtype);
};

}  // namespace

BOOST_AUTO_TEST_SUITE(integer_operands)

BOOST_AUTO_TEST_CASE(become_floats_of_the_policy_where_an_op_needs_floats) {
  const Case cases[] = {{"relu", [](DType t) { return relu(numbers(t)); }},
                        {"abs", [](DType t) { return abs(numbers(t)); }},
                        {"negative", [](DType t) { return -numbers(t); }},
                        {"sign", [](DType t) { return sign(numbers(t)); }},
                        {"exp", [](DType t) { return exp(numbers(t)); }},
                        {"log", [](DType t) { return log(ones(t)); }},
                        {"mean", [](DType t) { return mean(numbers(t)); }},
                        {"divide", [](DType t) { return numbers(t) / ones(t); }},
                        {"matmul", [](DType t) { return matmul(numbers(t), ones(t)); }},
                        {"dropout", [](DType t) { return dropout(numbers(t), 0.5); }}};
  for (const Case& c : cases) {
    for (const std::string& policy : policy_names) {
      const PolicyScope scope((Policy(policy)));
      const DType compute = Policy(policy).compute_dtype();
      const Tensor expected = c.call(compute).tensor();
      for (const DType dtype : integer_dtypes) {
        BOOST_TEST_CONTEXT(c.op << " of " << dtype_name(dtype) << " under " << policy) {
          const Value result = c.call(dtype);
          BOOST_TEST((result.dtype() == compute));
          BOOST_TEST(result.tensor().equal(expected));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(stay_integers_elsewhere) {
  const PolicyScope scope("mixed_bfloat16");
  for (const DType dtype : integer_dtypes) {
    const Value x = numbers(dtype).across_border();
    for (const Value& result : {x + x, x * x, sum(x), reshape(x, {4}), transpose(x), broadcast_to(x, {3, 2, 2}),
                                concat({x, x}), slice(x, {{0, 0}, {1, 2}}), pad(x, {{1, 0}, {0, 0}}),
                                where(cast(x, DType::boolean), x, x), gather(x, Tensor({2}, DType::int32))}) {
      BOOST_TEST((result.dtype() == dtype), dtype_name(dtype));
    }
    BOOST_TEST((equal(x, x).dtype() == DType::boolean));
    BOOST_TEST((argmax(x).dtype() == DType::int64));
  }
}

BOOST_AUTO_TEST_CASE(sums_do_not_overflow_on_the_way) {
  const Tensor many({3}, std::vector<std::int8_t>{100, 100, -100});
  BOOST_TEST(sum(many).item() == 100);
}

BOOST_AUTO_TEST_SUITE_END()
