#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include <mezzo/data/loader.hpp>

#include "support/child.hpp"

using namespace mezzo;
using mezzo_tests::in_child;

namespace {

/// Loads 0 to 39 in batches of four; calls `before_sample` before each.
DataLoader numbers(
    int workers, const std::function<void()>& before_sample = [] {}) {
  const auto sample = [=](std::int64_t index) {
    before_sample();
    return std::vector<Tensor>{Tensor::scalar(static_cast<double>(index), DType::int64)};
  };
  return DataLoader(
      Dataset::from_function({.size = 40, .fields = {{.name = "x", .dtype = DType::int64}}, .function = sample}),
      {.batch_size = 4, .workers = workers});
}

/// True if the stream has the batches from `first` to the last.
bool has_batches_from(detail::BatchStream& stream, std::int64_t first) {
  for (std::int64_t i = first; i < 10; ++i) {
    const auto batch = stream.next();
    if (!batch || (*batch)["x"].to_doubles()[0] != 4.0 * static_cast<double>(i)) return false;
  }
  return !stream.next();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loader_forks)

BOOST_AUTO_TEST_CASE(a_stream_goes_on_in_parent_and_child) {
  for (const int workers : {0, 1, 3}) {
    BOOST_TEST_CONTEXT(workers) {
      const DataLoader loader = numbers(workers);
      detail::BatchStream stream = loader.epoch(0);
      for (int i = 0; i < 3; ++i) stream.next();
      BOOST_TEST(in_child([&] {
        if (!has_batches_from(stream, 3)) return false;
        detail::BatchStream other = loader.epoch(1);
        return has_batches_from(other, 0);
      }));
      BOOST_TEST(has_batches_from(stream, 3));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_lock_of_the_data_set_is_free_in_the_child) {
  std::mutex mutex;
  const DataLoader loader = numbers(3, [&] {
    const std::lock_guard lock(mutex);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  });
  for (int i = 0; i < 10; ++i) {
    detail::BatchStream stream = loader.epoch(0);
    BOOST_TEST(in_child([&] { return has_batches_from(stream, 0); }));
    BOOST_TEST(has_batches_from(stream, 0));
  }
}

BOOST_AUTO_TEST_CASE(fork_does_not_wait_for_ever) {
  std::atomic<bool> forked{false};
  detail::BatchStream stream = numbers(1, [&] {
                                 while (!forked) std::this_thread::yield();
                               }).epoch(0);
  BOOST_TEST(in_child([] { return true; }));
  forked = true;
  BOOST_TEST(has_batches_from(stream, 0));
}

BOOST_AUTO_TEST_CASE(a_child_drops_a_stream_of_its_parent) {
  std::optional<detail::BatchStream> stream(numbers(2).epoch(0));
  BOOST_TEST(in_child([&] {
    stream.reset();
    return true;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
