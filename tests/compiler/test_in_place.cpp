#include <boost/test/unit_test.hpp>

#include <mezzo/ops/recurrence.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t rows = 6, columns = 8;

// A random step of elementwise ops, views and reductions over two arrays and a row, where results are used several
// times, last at random places, and a random few are outputs: what lies on what differs from seed to seed.
class RandomStep {
 public:
  explicit RandomStep(std::uint64_t seed) : seed_(seed) {}

  Values operator()(const Values& inputs) {
    count_ = 0;
    Values values = inputs, outputs;
    for (int i = 0; i < 40; ++i) {
      const Value a = pick(values), b = pick(values);
      values.push_back(apply(a, b));
      if (draw(8) == 0) outputs.push_back(values.back());
    }
    outputs.push_back(values.back());
    return outputs;
  }

 private:
  std::uint32_t draw(std::uint32_t n) { return philox(seed_, count_++)[0] % n; }

  // One of the last few, mostly.
  Value pick(const Values& values) {
    const auto n = static_cast<std::uint32_t>(values.size());
    return values[draw(4) == 0 ? draw(n) : n - 1 - draw(std::min(n, 4U))];
  }

  // Of shape (6, 8) or (8,), of numbers that stay small.
  Value apply(const Value& a, const Value& b) {
    const Value small = a * 0.5;
    switch (draw(11)) {
      case 0:
        return a + b;
      case 1:
        return small - b;
      case 2:
        return small * relu(b);
      case 3:
        return a / (abs(b) + 1.5);
      case 4:
        return relu(a);
      case 5:
        return exp(-abs(a));
      case 6:
        return -a;
      case 7:
        return reshape(relu(reshape(a, {-1, 4})), a.shape());
      case 8:
        return sum(small, {{-1}, true}) * 0.125 + b;
      case 9:
        return a.shape().size() == 2 ? mean(a, {{0}, false}) : a + a;
      default:
        return transpose(transpose(broadcast_to(a, {rows, columns})) * 0.75);
    }
  }

  std::uint64_t seed_, count_ = 0;
};

TensorList arguments_of(std::uint64_t seed, DType dtype) {
  return {random_tensor({rows, columns}, dtype, 10 * seed), random_tensor({rows, columns}, dtype, 10 * seed + 1),
          random_tensor({columns}, dtype, 10 * seed + 2)};
}

TensorList computed_one_by_one(RandomStep step, const TensorList& arguments) {
  TensorList out;
  for (const Value& value : step({arguments.begin(), arguments.end()})) out.push_back(value.tensor());
  return out;
}

void check_plan(std::uint64_t seed, DType dtype) {
  const RandomStep step(seed);
  detail::Plan plan = planned(trace_step(step, arguments_of(seed, dtype)));
  for (const std::uint64_t run : {seed, seed + 1000}) {
    const TensorList arguments = arguments_of(run, dtype), before = arguments_of(run, dtype);
    const TensorList expected = computed_one_by_one(step, arguments);
    plan.run(arguments, {});
    const TensorList results = outputs_of(plan);
    BOOST_TEST_REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      BOOST_TEST(results[i].equal(expected[i]), "seed " << seed << ", output " << i << " of " << results.size());
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) BOOST_TEST(arguments[i].equal(before[i]), "argument " << i);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(in_place)

BOOST_AUTO_TEST_CASE(plans_of_random_steps_equal_ops_one_by_one) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) check_plan(seed, DType::float32);
}

BOOST_AUTO_TEST_CASE(in_other_dtypes_too) {
  for (const DType dtype : {DType::float64, DType::bfloat16, DType::float16}) {
    for (std::uint64_t seed = 100; seed < 115; ++seed) check_plan(seed, dtype);
  }
}

BOOST_AUTO_TEST_CASE(chains_take_the_memory_of_one_array) {
  const auto step = [](const Values& x) {
    Value y = x[0] * 2;
    for (int i = 0; i < 20; ++i) y = relu(-y);
    return Values{y};
  };
  const Tensor x({1000});
  const detail::Plan plan = planned(trace_step(step, {x}));
  BOOST_TEST(plan.arena_bytes() < 2 * x.bytes());
}

// The gates of an LSTM, its third output, take the place of the projected inputs.
BOOST_AUTO_TEST_CASE(later_outputs_take_the_memory_of_operands) {
  const Tensor x = random_tensor({64, 50, 64}), kernel = random_tensor({16, 64}, DType::float32, 1);
  const auto step = [](const Values& v) { return Values{recurrence(v[0] * 2, v[1]).last_states[0]}; };
  detail::Plan plan = planned(trace_step(step, {x, kernel}));
  BOOST_TEST(plan.arena_bytes() < 2 * x.bytes());
  plan.run({x, kernel}, {});
  BOOST_TEST(outputs_of(plan)[0].equal(step({x, kernel})[0].tensor()));
}

BOOST_AUTO_TEST_SUITE_END()
