#include <boost/test/unit_test.hpp>

#include <mezzo/graph/scope.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/training/model/model.hpp>

#include "support/kernels.hpp"
#include "support/precision.hpp"
#include "support/runs.hpp"
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
                        {"exp", [](DType t) { return exp(numbers(t)); }},
                        {"log", [](DType t) { return log(ones(t)); }},
                        {"mean", [](DType t) { return mean(numbers(t)); }},
                        {"divide", [](DType t) { return numbers(t) / ones(t); }},
                        {"matmul", [](DType t) { return matmul(numbers(t), ones(t)); }},
                        {"dropout", [](DType t) { return dropout(numbers(t), 0.5); }}};
  for (const Case& c : cases) {
    for (const std::string& policy : policy_names) {
      const detail::PolicyScope scope((Policy(policy)));
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
  const detail::PolicyScope scope("mixed_bfloat16");
  for (const DType dtype : integer_dtypes) {
    const Value x = numbers(dtype).across_border();
    for (const Value& result :
         {x + x, x * x, abs(x), -x, sign(x), maximum(x, x), reshape(x, {4}), transpose(x), broadcast_to(x, {3, 2, 2}),
          concat({x, x}), slice(x, {{0, 0}, {1, 2}}), pad(x, {{1, 0}, {0, 0}}), where(cast(x, DType::boolean), x, x),
          gather(x, Tensor({2}, DType::int32))}) {
      BOOST_TEST((result.dtype() == dtype), dtype_name(dtype));
    }
    BOOST_TEST((equal(x, x).dtype() == DType::boolean));
    BOOST_TEST((argmax(x).dtype() == DType::int64));
    BOOST_TEST((sum(x).dtype() == DType::int64));
  }
}

BOOST_AUTO_TEST_CASE(sums_do_not_overflow_on_the_way) {
  const Tensor many({3}, std::vector<std::int8_t>{100, 100, -100});
  BOOST_TEST(sum(many).item() == 100);
}

BOOST_AUTO_TEST_CASE(are_summed_in_int64_eagerly_in_plans_and_in_functional_models) {
  const TestedStep step = [](const Values& x) { return Values{sum(x[0]), sum(x[0], {.axes = {1}})}; };
  for (const DType dtype : integer_dtypes) {
    const Tensor units = Tensor({3, 300}, std::vector<std::uint8_t>(900, 1)).cast(dtype);
    for (const TensorList& results :
         {run_in_eager_trace(step, {units}), run_compiled(trace_step(step, {units}), {units})}) {
      BOOST_TEST((results[0].dtype() == DType::int64), dtype_name(dtype));
      BOOST_TEST(results[0].item() == 900);
      BOOST_TEST(results[1].to_doubles() == (std::vector<double>{300, 300, 300}));
    }
    const Tensor reference =
        run_reference("sum", {{"axes", Shape{0, 1}}, {"keepdims", false}, {"dtype", DType::int64}}, {units})[0];
    BOOST_TEST(reference.item() == 900);
  }
  const Input x({.shape = {300}, .dtype = DType::uint8});
  Model model({.inputs = {x}, .outputs = {sum(x, {.axes = {1}})}});
  const Value out = model(Tensor({2, 300}, std::vector<std::uint8_t>(600, 1)));
  BOOST_TEST((out.dtype() == DType::int64));
  BOOST_TEST(out.tensor().to_doubles() == (std::vector<double>{300, 300}));
}

BOOST_AUTO_TEST_CASE(large_integers_are_summed_exactly) {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;  // no double
  const Tensor total = sum(Tensor({2}, std::vector<std::int64_t>{large, 0})).tensor();
  BOOST_TEST(total.data<std::int64_t>()[0] == large);
  const Tensor many({3}, std::vector<std::int32_t>(3, 2000000000));
  BOOST_TEST(sum(many).item() == 6000000000);
}

BOOST_AUTO_TEST_SUITE_END()
