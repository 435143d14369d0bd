#include <boost/test/unit_test.hpp>

#include <future>
#include <thread>

#include <mezzo/mezzo.hpp>

#include "support/child.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Stops the first call of its function on another thread, for the lifetime of the object.
class Stopped {
 public:
  template <class Call>
  explicit Stopped(const Call& call) : thread_(call) {
    begun_.get_future().wait();
  }
  ~Stopped() {
    released_.set_value();
    thread_.join();
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

  static void wait_once(bool& waits) {
    if (!std::exchange(waits, false)) return;
    begun_.set_value();
    released_.get_future().wait();
  }
  static void renew() {
    begun_ = std::promise<void>();
    released_ = std::promise<void>();
  }

 private:
  static inline std::promise<void> begun_, released_;
  std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(predictor_forks)

BOOST_AUTO_TEST_CASE(a_child_predicts_although_all_workers_were_in_use) {
  Stopped::renew();
  bool waits = false;
  Sequential model({Input({1}), Lambda([&](const Value& x) {
                      return host(
                          [&](const Tensor& y) {
                            Stopped::wait_once(waits);
                            return y;
                          },
                          2 * x);
                    })});
  const Predictor predictor = model.predictor({.batch_sizes = {1}, .workers = 1});
  predictor(column({1}));
  waits = true;
  const Stopped running([&] { predictor(column({1})); });
  BOOST_TEST(in_child([&] {
    return predictor(column({3})).item() == 6 && predictor(column({3, 4})).to_doubles().back() == 8;
  }));
}

BOOST_AUTO_TEST_CASE(a_child_is_refused_a_model_that_a_thread_of_its_parent_runs) {
  Stopped::renew();
  bool waits = true;
  Sequential model = line(2), other = line(3);
  const Dataset slow = Dataset::from_function(
      {.size = 1, .fields = {{.name = "x", .shape = {1}}}, .function = [&](std::int64_t) -> std::vector<Tensor> {
         Stopped::wait_once(waits);
         return {Tensor({1}, std::vector<float>{3})};
       }});
  const Stopped running([&] { model.predict(DataLoader(slow, {.workers = 0})); });
  BOOST_TEST(in_child([&] {
    return refused<ValueError>([&] { model.predict(column({1})); }).find("must be idle") != std::string::npos &&
           other.predict(column({1})).item() == 3;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
