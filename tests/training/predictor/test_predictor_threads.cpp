// Calls of a predictor and of a model on several threads.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <set>
#include <thread>

#include <mezzo/mezzo.hpp>
#include <mezzo/training/predictor/worker_pool.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Runs a function with the numbers 0 to n - 1 on n threads.
template <class Function>
void on_threads(int n, const Function& function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&function, i] { function(i); });
  for (std::thread& thread : threads) thread.join();
}

Sequential small_model() {
  return Sequential({Input({8}), Dense({.units = 16, .activation = "tanh"}), Dense({.units = 3})});
}

Tensor numbers(std::int64_t rows, std::uint64_t seed) { return random_tensor({rows, 8}, DType::float32, seed); }

int rounds(int small, int all) { return std::getenv("MEZZO_TEST_SMALL") != nullptr ? small : all; }

}  // namespace

BOOST_AUTO_TEST_SUITE(predictor_threads)

BOOST_AUTO_TEST_CASE(eight_threads_predict_the_bits_of_one) {
  Sequential model = small_model();
  const Predictor predictor = model.predictor({.batch_sizes = {1, 4}, .workers = 3});
  std::vector<Tensor> xs, expected;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    xs.push_back(numbers(seed % 2 == 0 ? 1 : 4, seed));
    expected.push_back(predictor(xs.back()));
  }
  std::atomic<int> wrong{0};
  const int count = rounds(500, 10000);
  on_threads(8, [&](int thread) {
    std::vector<Tensor> ys(xs.size());
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i + thread) % xs.size();
      predictor(xs[k], ys[k]);
      wrong += ys[k].equal(expected[k]) ? 0 : 1;
    }
  });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(threads_compile_other_shapes_at_once) {
  Sequential model = small_model();
  const Predictor predictor = model.predictor({.workers = 4, .max_plans = 3});
  std::vector<Tensor> xs, expected;
  for (std::int64_t rows = 1; rows < 7; ++rows) {
    xs.push_back(numbers(rows, 1));
    expected.push_back(model.predict(xs.back()));
  }
  std::atomic<int> wrong{0};
  on_threads(4, [&](int thread) {
    for (int i = 0; i < 30; ++i) {
      const auto k = static_cast<std::size_t>(i + thread) % xs.size();
      wrong += largest_difference(predictor(xs[k]), expected[k]) < 1e-6 ? 0 : 1;
    }
  });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(a_worker_serves_one_thread_at_a_time) {
  detail::WorkerPool pool(3);
  std::atomic<int> used[3] = {{0}, {0}, {0}}, wrong{0};
  on_threads(8, [&](int) {
    for (int i = 0; i < 2000; ++i) {
      const detail::WorkerPool::Lease lease(pool);
      wrong += used[lease.worker()]++ == 0 ? 0 : 1;
      --used[lease.worker()];
    }
  });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(no_more_calls_run_than_there_are_workers) {
  std::atomic<int> running{0}, most{0};
  Sequential model({Input({1}), Lambda([&](const Value& x) {
                      return host(
                          [&](const Tensor& y) {
                            const int now = ++running;
                            for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                            }
                            std::this_thread::sleep_for(std::chrono::microseconds(200));
                            --running;
                            return y;
                          },
                          x);
                    })});
  const Predictor predictor = model.predictor({.batch_sizes = {1}, .workers = 2});
  on_threads(5, [&](int) {
    for (int i = 0; i < 20; ++i) predictor(column({1}));
  });
  BOOST_TEST(most == 2);
}

BOOST_AUTO_TEST_CASE(an_error_on_one_thread_does_not_reach_the_others) {
  Sequential model({Input({2}, {.dtype = "int32"}), Embedding({.input_dim = 5, .output_dim = 3}), Flatten()});
  for (const std::int64_t joined : {0, 4}) {
    const Predictor predictor = model.predictor({.batch_sizes = {1}, .workers = 2, .max_batch_size = joined});
    const Tensor good({1, 2}, std::vector<std::int32_t>{1, 4}), bad({1, 2}, std::vector<std::int32_t>{1, 5});
    const Tensor expected = predictor(good);
    std::atomic<int> wrong{0};
    on_threads(4, [&](int thread) {
      for (int i = 0; i < 50; ++i) {
        const std::string text = refused<ValueError>([&] {
          if (!predictor(thread == 0 ? bad : good).equal(expected)) ++wrong;
        });
        if (text.empty() != (thread != 0)) ++wrong;
      }
    });
    BOOST_TEST(wrong == 0);
  }
}

BOOST_AUTO_TEST_CASE(calls_of_several_threads_are_joined) {
  std::atomic<int> calls{0};
  Sequential model({Input({8}), Dense({.units = 3}), Lambda([&](const Value& x) {
                      return host(
                          [&](const Tensor& y) {
                            ++calls;
                            return y;
                          },
                          x);
                    })});
  const Predictor predictor = model.predictor({.workers = 2, .max_batch_size = 8, .max_delay = 10});
  std::vector<Tensor> xs, expected;
  for (std::uint64_t i = 0; i < 4; ++i) {
    xs.push_back(numbers(2, i));
    expected.push_back(model.predict(xs.back()));
  }
  calls = 0;
  std::atomic<int> wrong{0};
  on_threads(4, [&](int thread) {
    const auto k = static_cast<std::size_t>(thread);
    for (int i = 0; i < 20; ++i) wrong += largest_difference(predictor(xs[k]), expected[k]) < 1e-6 ? 0 : 1;
  });
  BOOST_TEST(wrong == 0);
  BOOST_TEST(calls == 20);  // each joins the rows of all threads
}

BOOST_AUTO_TEST_CASE(joined_calls_wait_no_longer_than_the_delay_and_may_be_larger) {
  Sequential model = small_model();
  const Predictor predictor = model.predictor({.workers = 1, .max_batch_size = 4, .max_delay = 0});
  for (const std::int64_t rows : {1, 3, 4, 6}) {
    BOOST_TEST(largest_difference(predictor(numbers(rows, 5)), model.predict(numbers(rows, 5))) < 1e-6);
  }
  Tensor wrong({1, 1});
  BOOST_TEST(refused<ShapeError>([&] { predictor(numbers(3, 5), wrong); }) ==
             "[Predictor] output 0 must be float32 (3, 3); got float32 (1, 1)");
}

BOOST_AUTO_TEST_CASE(predictions_during_a_training_are_those_of_finished_steps) {
  Sequential model = line(2);
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  std::set<double> steps{2};
  const LambdaCallback noted({.on_train_batch_end = [&](std::int64_t, Logs&) { steps.insert(weight_of(model)); }});
  std::vector<double> xs, ys;
  for (int i = 0; i < 40; ++i) {
    xs.push_back(1 + i % 3);
    ys.push_back(3 * (1 + i % 3));
  }
  std::atomic<bool> ends{false};
  std::vector<std::vector<double>> predicted(3);
  std::thread training([&] {
    for (int i = 0; i < rounds(3, 10); ++i) {
      model.fit(column(xs), column(ys),
                {.batch_size = 4, .epochs = 4, .verbose = 0, .callbacks = {LambdaCallback(noted)}});
    }
    ends = true;
  });
  std::atomic<int> mixtures{0};
  on_threads(3, [&](int thread) {
    auto& own = predicted[static_cast<std::size_t>(thread)];
    do {
      if (thread == 0) {
        const auto y = model.predict(column({1, 1, 1}), {.batch_size = 1}).to_doubles();  // three batches, one state
        mixtures += y[0] == y[1] && y[1] == y[2] ? 0 : 1;
        own.push_back(y[0]);
      } else if (thread == 1) {
        own.push_back(std::sqrt(model.evaluate(column({1}), column({0})).at("loss")));
      } else {
        own.push_back(model.predictor({.workers = 1})(column({1})).item());
      }
    } while (!ends);
  });
  training.join();
  BOOST_TEST(mixtures == 0);
  for (const int thread : {0, 2}) {
    for (const double y : predicted[static_cast<std::size_t>(thread)]) BOOST_TEST(steps.count(y) == 1U);
  }
  for (const double y : predicted[1]) {
    const auto near = steps.lower_bound(y - 1e-5);
    BOOST_TEST((near != steps.end() && *near < y + 1e-5));
  }
}

BOOST_AUTO_TEST_CASE(several_threads_predict_with_one_model) {
  Sequential model = small_model();
  std::vector<Tensor> xs, expected;
  for (std::uint64_t i = 0; i < 4; ++i) {
    xs.push_back(numbers(5, i));
    expected.push_back(model.predict(xs.back(), {.batch_size = 2}));
  }
  std::atomic<int> wrong{0};
  on_threads(4, [&](int thread) {
    const auto k = static_cast<std::size_t>(thread);
    for (int i = 0; i < 20; ++i) wrong += model.predict(xs[k], {.batch_size = 2}).equal(expected[k]) ? 0 : 1;
  });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(threads_that_would_wait_for_each_other_are_refused) {
  Sequential a = line(2), b = line(3);
  std::atomic<int> inside{0}, refusals{0};
  const auto run = [&](Sequential& own, Sequential& other) {
    own.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
    const LambdaCallback cross({.on_train_batch_end = [&](std::int64_t, Logs&) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
      refusals += refused<ValueError>([&] { other.predict(column({1})); }).empty() ? 0 : 1;
    }});
    own.fit(column({1}), column({1}), {.verbose = 0, .callbacks = {LambdaCallback(cross)}});
  };
  std::thread first([&] { run(a, b); }), second([&] { run(b, a); });
  first.join();
  second.join();
  BOOST_TEST(refusals == 1);
}

BOOST_AUTO_TEST_SUITE_END()
