#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/ops/grad.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/random.hpp>

#include "support/runs.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t many = 20000;

struct Moment {
  double mean = 0, variance = 0, least = 0, largest = 0;
};

Moment moments_of(const Value& x) {
  const std::vector<double> numbers = x.tensor().to_doubles();
  Moment out{0, 0, numbers[0], numbers[0]};
  for (const double number : numbers) {
    out.mean += number / static_cast<double>(numbers.size());
    out.least = std::min(out.least, number);
    out.largest = std::max(out.largest, number);
  }
  for (const double number : numbers) {
    out.variance += (number - out.mean) * (number - out.mean) / static_cast<double>(numbers.size());
  }
  return out;
}

// One call of each function.
const std::map<std::string, std::function<Value()>>& draws() {
  static const std::map<std::string, std::function<Value()>> all{
      {"normal", [] { return random::normal({6}); }},
      {"truncated_normal", [] { return random::truncated_normal({6}); }},
      {"uniform", [] { return random::uniform({6}); }},
      {"randint", [] { return random::randint({6}, 0, 1000000); }},
      {"bernoulli", [] { return random::bernoulli({60}, 0.5); }},
      {"binomial", [] { return random::binomial({6}, 1000, 0.5); }},
      {"gamma", [] { return random::gamma({6}, 2.0); }},
      {"beta", [] { return random::beta({6}, 2.0, 3.0); }},
      {"categorical",
       [] {
         return random::categorical(Tensor({2, 50}), 20);
       }},
      {"shuffle", [] { return random::shuffle(arange(50)); }},
      {"dropout", [] { return random::dropout(ones({60}), 0.5); }},
  };
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_numbers)

// The bounds are about 5 standard deviations of the estimates from `many` numbers; the numbers are always the same.
BOOST_AUTO_TEST_CASE(moments) {
  seed_everything(11);
  struct Row {
    const char* name;
    Value numbers;
    double mean, variance;
  };
  const double z = 2 * std::exp(-2.0) / std::sqrt(6.283185307179586);  // density at the ends of truncated_normal
  const double inside = std::erf(std::sqrt(2.0));
  const std::vector<Row> rows{
      {"normal", random::normal({many}, {.mean = 3, .stddev = 2}), 3, 4},
      {"normal of arrays", random::normal({many, 2}, {.mean = array({-1.0, 1.0}), .dtype = DType::float64}), 0, 2},
      {"truncated_normal", random::truncated_normal({many}), 0, 1 - 2 * z / inside},
      {"uniform", random::uniform({many}, {.minval = -2, .maxval = 4}), 1, 3},
      {"uniform float64", random::uniform({many}, {.dtype = DType::float64}), 0.5, 1.0 / 12},
      {"uniform bfloat16", random::uniform({many}, {.dtype = DType::bfloat16}), 0.5 - 0x1p-9, 1.0 / 12},
      {"randint", random::randint({many}, -3, 7), 1.5, 99.0 / 12},
      {"bernoulli", random::bernoulli({many}, 0.3), 0.3, 0.21},
      {"binomial, few", random::binomial({many}, 10, 0.2), 2, 1.6},
      {"binomial, many", random::binomial({many}, 1000, 0.7), 700, 210},
      {"binomial, 0 and 1", random::binomial({many, 2}, 4, array({0.0, 1.0})), 2, 4},
      {"gamma", random::gamma({many}, 2.5), 2.5, 2.5},
      {"gamma below 1", random::gamma({many}, 0.3), 0.3, 0.3},
      {"beta", random::beta({many}, 2.0, 3.0), 0.4, 0.04},
      {"categorical", random::categorical(array({{0.0, std::log(2.0), std::log(5.0)}}), many), 12.0 / 8, 0.5},
      {"dropout", random::dropout(ones({many}), 0.25), 1, 1.0 / 3},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Moment found = moments_of(row.numbers);
      const double bound = 5 * std::sqrt(row.variance / many);
      BOOST_TEST(std::abs(found.mean - row.mean) <= bound);
      BOOST_TEST(std::abs(found.variance - row.variance) <= 0.08 * row.variance);
    }
  }
  const Moment u = moments_of(random::uniform({many})), t = moments_of(random::truncated_normal({many}));
  BOOST_TEST((u.least >= 0 && u.least < 0.001 && u.largest < 1 && u.largest > 0.999));
  BOOST_TEST((t.least >= -2 && t.least < -1.95 && t.largest <= 2 && t.largest > 1.95));
  const Moment d = moments_of(random::randint({many}, -3, 7));
  BOOST_TEST((d.least == -3 && d.largest == 6));
  // Kolmogorov's distance from the normal distribution, below its 0.1 % bound.
  std::vector<double> sorted = random::normal({many}).tensor().to_doubles();
  std::sort(sorted.begin(), sorted.end());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double share = (static_cast<double>(i) + 0.5) / many;
    distance = std::max(distance, std::abs(share - 0.5 * std::erfc(-sorted[i] / std::sqrt(2.0))));
  }
  BOOST_TEST(distance < 1.95 / std::sqrt(many));
}

BOOST_AUTO_TEST_CASE(seeds_and_draws) {
  for (const auto& entry : draws()) {
    const auto& draw = entry.second;
    BOOST_TEST_CONTEXT(entry.first) {
      seed_everything(5);
      const Tensor first = draw().tensor(), second = draw().tensor();
      seed_everything(5);
      const Tensor again = draw().tensor();
      seed_everything(6);
      const Tensor other = draw().tensor();
      BOOST_TEST(first.equal(again));
      BOOST_TEST(!first.equal(second));
      BOOST_TEST(!first.equal(other));
    }
  }
  const Tensor given = random::normal({4}, {.seed = 7}).tensor();
  BOOST_TEST(given.equal(random::normal({4}, {.seed = 7}).tensor()));
  BOOST_TEST(!given.equal(random::normal({4}, {.seed = 8}).tensor()));
  std::vector<double> order = random::shuffle(arange(100), 0, {.seed = 1}).tensor().to_doubles();
  std::sort(order.begin(), order.end());
  BOOST_TEST(order == arange(100).to_doubles(), boost::test_tools::per_element());
  const Tensor rows = random::dropout(ones({5, 8}), 0.5, {.noise_shape = Shape{5, 1}, .seed = 3}).tensor();
  for (std::int64_t i = 0; i < 5; ++i) BOOST_TEST(rows(i, 0).equal(rows(i, 7)));
}

BOOST_AUTO_TEST_CASE(number_of_threads) {
  const int before = thread_count();
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    static Tensor first;
    const Tensor numbers = random::gamma({5000}, 0.7, {.seed = 2}).tensor();
    if (threads == 1) first = numbers;
    BOOST_TEST(numbers.equal(first));
  }
  set_thread_count(before);
}

BOOST_AUTO_TEST_CASE(steps) {
  for (const auto& entry : draws()) {
    const auto& draw = entry.second;
    BOOST_TEST_CONTEXT(entry.first) {
      const auto step = [&](const Values&) { return Values{draw(), draw()}; };
      const TensorList eager = run_in_eager_trace(step, {});
      detail::Plan plan(run_passes(trace_step(step, {}), {}), std::make_shared<Arena>());
      const auto run = [&plan](double of_step) {
        std::vector<double> runtime;
        for (const detail::RuntimeKey& key : plan.runtime_keys()) {
          runtime.push_back(key.scalar == detail::RuntimeScalar::step ? of_step : 0);
        }
        plan.run({}, runtime);
        return outputs_of(plan);
      };
      const TensorList first = run(0), again = run(0), next = run(1);
      BOOST_TEST(first[0].equal(eager[0]));
      BOOST_TEST(first[1].equal(eager[1]));
      BOOST_TEST(!first[0].equal(first[1]));
      BOOST_TEST(first[0].equal(again[0]));
      BOOST_TEST(!first[0].equal(next[0]));
    }
  }
}

// The largest draws round to the bound, in halves about one of 500.
BOOST_AUTO_TEST_CASE(uniform_numbers_stay_below_their_bound) {
  struct Bounds {
    double minval, maxval;
  };
  for (const DType dtype : {DType::bfloat16, DType::float16, DType::float32, DType::float64}) {
    for (const Bounds& b : {Bounds{1, 2}, Bounds{-1, 1}, Bounds{0, 3.1}, Bounds{100, 101}, Bounds{-3, -2.7}}) {
      const Shape shape{20000};
      const Tensor array({1}, std::vector<double>{b.maxval});
      for (const Value& maxval : {Value(b.maxval), Value(array)}) {
        const Moment m =
            moments_of(random::uniform(shape, {.minval = b.minval, .maxval = maxval, .dtype = dtype, .seed = 3}));
        BOOST_TEST(m.largest < b.maxval, dtype_name(dtype) << " " << b.minval);
        BOOST_TEST(m.largest > b.minval + 0.9 * (b.maxval - b.minval) - std::abs(b.maxval) / 128);
        BOOST_TEST(m.least >= Tensor::scalar(b.minval, dtype).item());
      }
    }
  }
  const Moment wide = moments_of(random::uniform({20000}, {.minval = -6e4, .maxval = 6e4, .dtype = DType::float16}));
  BOOST_TEST(std::abs(wide.mean) < 2000);
  BOOST_TEST((random::uniform({3}, {.minval = 2, .maxval = 2}).tensor().to_doubles() == std::vector<double>{2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(gradients_pass_by_reparametrization) {
  const auto g = grad([](const Values& x) {
    return sum(random::normal({3}, {.mean = x[0], .stddev = x[1], .seed = 4}) +
               random::uniform({3}, {.maxval = x[1], .seed = 4}));
  })({array({1.0, 2.0, 3.0}), array(2.0)});
  BOOST_TEST((g[0].tensor().to_doubles() == std::vector<double>{1, 1, 1}));
  const double expected = sum(random::normal({3}, {.seed = 4}) + random::uniform({3}, {.seed = 4})).item();
  BOOST_TEST(g[1].item() == expected, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(sizes_of_0_and_errors) {
  for (const Shape& shape : {Shape{0}, Shape{2, 0}}) {
    BOOST_TEST((random::normal(shape).shape() == shape));
    BOOST_TEST((random::binomial(shape, 3, 0.5).shape() == shape));
  }
  BOOST_TEST((random::categorical(Tensor({0, 3}), 2).shape() == Shape{0, 2}));
  BOOST_TEST((random::shuffle(Tensor({0, 3})).shape() == Shape{0, 3}));
  BOOST_TEST((random::normal({}).shape() == Shape{}));
  check_throws<ValueError>(
      "[normal] shape must be known; got (?, 2): pass sizes of shape(x), or a Value of that shape, as in normal(x)",
      [] {
        random::normal({-1, 2});
      });
  check_throws<DTypeError>("[uniform] dtype must be floating; got int32",
                           [] { random::uniform({2}, {.dtype = DType::int32}); });
  check_throws<ValueError>("[randint] minval must be below maxval; got 3 and 3", [] { random::randint({2}, 3, 3); });
  check_throws<ValueError>("[randint] numbers from 0 to 299 must fit into the dtype; got uint8",
                           [] { random::randint({2}, 0, 300, {.dtype = DType::uint8}); });
  check_throws<ValueError>("[bernoulli] probability must be in [0, 1]; got 1.5", [] { random::bernoulli({2}, 1.5); });
  check_throws<ValueError>("[gamma] alpha must be positive and finite; got 0", [] { random::gamma({2}, 0.0); });
  check_throws<ValueError>("[binomial] counts must be whole numbers from 0 to 2^53; got -1",
                           [] { random::binomial({2}, -1, 0.5); });
  check_throws<ShapeError>("[gamma] operands must broadcast to shape (2,); got shape (2, 2)", [] {
    random::gamma({2}, ones({2, 2}));
  });
  check_throws<ShapeError>("[categorical] logits must be (batch, classes) with at least 1 class; got shape (3,)",
                           [] { random::categorical(Tensor({3}), 1); });
  check_throws<ValueError>("[dropout] rate must lie in [0, 1); got 1", [] { random::dropout(ones({2}), 1); });
}

BOOST_AUTO_TEST_SUITE_END()
