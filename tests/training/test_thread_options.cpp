// adaptive_threads and deterministic of a Trainer decide how many threads its steps have on a busy machine.
#include <boost/test/unit_test.hpp>

#include <mezzo/core/contention.hpp>

#include "small.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::Contention;
using detail::ContentionLevels;

namespace {

// Notes the number of threads of its steps.
class ThreadsModule : public Module {
 public:
  explicit ThreadsModule(int& threads) : Module("ThreadsModule"), threads_(threads) {}
  Value training_step(const Batch& batch) override {
    const Value noted = host(
        [this](const Tensor& x) {
          threads_ = thread_count();
          return x;
        },
        batch["x"]);
    log("noted", mean(noted));
    return mean_squared_error(batch["y"], dense_(batch["x"]));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(0.01)}}; }

 private:
  int& threads_;
  Dense dense_ = sub("dense", Dense({.units = 1}));
};

// Steps of this thread are as after measurements beside another program; two threads, for its lifetime.
class BusyMachine {
 public:
  BusyMachine() : before_(thread_count()) {
    set_thread_count(2);
    ContentionLevels& levels = Contention::of_thread().levels();
    for (int i = 0; i < 10 && levels.level() != ContentionLevels::Level::reduced; ++i) {
      levels.note({.seconds = 0.1, .most_waiting = 0.5, .mean_waiting = 0.5}, 2, true);
    }
    BOOST_TEST_REQUIRE(levels.threads(2) == 1);
  }
  ~BusyMachine() {
    Contention::of_thread().levels() = {};
    set_adaptive_threads(false);
    set_thread_count(before_);
  }
  BusyMachine(const BusyMachine&) = delete;
  BusyMachine& operator=(const BusyMachine&) = delete;

 private:
  int before_;
};

int threads_of_step(TrainerOptions options) {
  int threads = 0;
  ThreadsModule module(threads);
  options.max_steps = 1;
  options.enable_progress_bar = false;
  Trainer(options).fit(module, DataLoader(pairs({1, 2}, {1, 2}), {.batch_size = 2}));
  return threads;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(thread_options)

BOOST_AUTO_TEST_CASE(adaptive_threads_of_a_trainer) {
  const BusyMachine busy;
  BOOST_TEST(threads_of_step({}) == 2);
  BOOST_TEST(threads_of_step({.adaptive_threads = true}) == 1);
}

BOOST_AUTO_TEST_CASE(deterministic_keeps_all_threads) {
  const BusyMachine busy;
  set_adaptive_threads(true);
  BOOST_TEST(threads_of_step({}) == 1);
  BOOST_TEST(threads_of_step({.adaptive_threads = false}) == 2);
  BOOST_TEST(threads_of_step({.deterministic = true}) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
