#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <mezzo/core/random.hpp>
#include <mezzo/data/loader.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

/// Reads of the samples of a data set, and the threads that made them.
struct Reads {
  std::atomic<int> count{0};
  std::mutex mutex{};
  std::set<std::thread::id> threads{};
};

Dataset counted(std::int64_t size, const std::shared_ptr<Reads>& reads) {
  return Dataset::from_function(
      {.size = size, .fields = {{.name = "x", .dtype = DType::int64}}, .function = [reads](std::int64_t index) {
         ++reads->count;
         const std::lock_guard lock(reads->mutex);
         reads->threads.insert(std::this_thread::get_id());
         return std::vector{Tensor::scalar(static_cast<double>(index), DType::int64)};
       }});
}

std::vector<double> read(detail::BatchStream stream) {
  std::vector<double> all;
  while (const auto batch = stream.next()) {
    const auto part = (*batch)["x"].to_doubles();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_streams)

BOOST_AUTO_TEST_CASE(a_stream_goes_through_epochs) {
  for (const int workers : {0, 1, 3}) {
    const DataLoader loader(counted(10, std::make_shared<Reads>()),
                            {.batch_size = 4, .shuffle = true, .workers = workers, .seed = 1});
    const std::vector<double> expected = joined(read(loader.epoch(2)), read(loader.epoch(3)));
    BOOST_TEST(read(loader.stream({.epoch = 2}, 6)) == expected, boost::test_tools::per_element());
    const std::vector<double> later(expected.begin() + 4, expected.begin() + 14);
    BOOST_TEST(read(loader.stream({.epoch = 2, .samples = 4}, 3)) == later, boost::test_tools::per_element());
    BOOST_TEST(read(loader.stream({.epoch = 2}, 0)).empty());
  }
}

BOOST_AUTO_TEST_CASE(a_stream_begins_at_any_sample) {
  const auto reads = std::make_shared<Reads>();
  const DataLoader loader(counted(10, reads), {.batch_size = 4});
  detail::BatchStream stream = loader.stream({.epoch = 0, .samples = 6}, 3);
  BOOST_TEST((*stream.next())["x"].to_doubles() == (std::vector<double>{6, 7}), boost::test_tools::per_element());
  BOOST_TEST((*stream.next())["x"].to_doubles() == (std::vector<double>{8, 9}), boost::test_tools::per_element());
  BOOST_TEST((*stream.next())["x"].to_doubles() == (std::vector<double>{0, 1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(!stream.next().has_value());
  const DataLoader whole(counted(10, reads), {.batch_size = 4, .drop_last = true});
  BOOST_TEST(read(whole.stream({.epoch = 0, .samples = 9}, 1)) == (std::vector<double>{0, 1, 2, 3}),
             boost::test_tools::per_element());
  check_throws<ValueError>("[DataLoader] samples of a position must lie in [0, 10); got 10",
                           [&] { loader.stream({.epoch = 0, .samples = 10}, 1); });
  check_throws<ValueError>("[DataLoader] count must be 0 or more; got -1", [&] { loader.stream({}, -1); });
  check_throws<ValueError>("[DataLoader] epoch must be 0 or more; got -1", [&] { loader.stream({.epoch = -1}, 1); });
  check_throws<ValueError>("[DataLoader] stream() needs a loader with a data set; got an absent loader",
                           [] { DataLoader().stream({}, 1); });
}

BOOST_AUTO_TEST_CASE(no_sample_is_read_twice_or_for_nothing) {
  for (const int workers : {0, 1, 2}) {
    const auto reads = std::make_shared<Reads>();
    const DataLoader loader(counted(100, reads), {.batch_size = 4, .shuffle = true, .workers = workers});
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      for (std::int64_t first : {0, 7, 20}) {  // streams that end early, each where the next one begins
        detail::BatchStream stream = loader.epoch(epoch, first);
        const std::int64_t end = first == 0 ? 7 : first == 7 ? 20 : 25;
        for (std::int64_t i = first; i < end; ++i) BOOST_TEST(stream.next().has_value());
      }
    }
    BOOST_TEST(reads->count == 300);
    BOOST_TEST(reads->threads.size() <= static_cast<std::size_t>(std::max(workers, 1)));
  }
}

BOOST_AUTO_TEST_CASE(a_stream_reads_no_more_than_its_batches) {
  const auto reads = std::make_shared<Reads>();
  const DataLoader loader(counted(100, reads), {.batch_size = 4, .workers = 2, .prefetch = 4});
  BOOST_TEST(read(loader.stream({}, 1)).size() == 4U);
  BOOST_TEST(reads->count == 4);
}

BOOST_AUTO_TEST_CASE(the_next_batch_can_be_seen_without_taking_it) {
  for (const int workers : {0, 2}) {
    const auto reads = std::make_shared<Reads>();
    const DataLoader loader(counted(8, reads), {.batch_size = 4, .workers = workers});
    BOOST_TEST((*loader.stream({}, 1).peek())["x"].to_doubles()[0] == 0);
    detail::BatchStream stream = loader.epoch(0);
    for (int i = 0; i < 2; ++i) BOOST_TEST((*stream.peek())["x"].to_doubles()[0] == 0);
    BOOST_TEST((*stream.next())["x"].to_doubles()[0] == 0);
    BOOST_TEST((*stream.peek())["x"].to_doubles()[0] == 4);
    BOOST_TEST((*stream.next())["x"].to_doubles()[0] == 4);
    BOOST_TEST(stream.peek() == nullptr);
    BOOST_TEST(!stream.next().has_value());
    BOOST_TEST(reads->count == 8);
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_read_while_there_is_no_stream) {
  const auto reads = std::make_shared<Reads>();
  const DataLoader loader(counted(1000, reads), {.batch_size = 1, .workers = 3, .prefetch = 3});
  for (std::int64_t i = 0; i < 20; ++i) {
    loader.epoch(0, i).next();
    const int count = reads->count;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    BOOST_TEST(reads->count == count);
  }
  BOOST_TEST(reads->count <= 29);
}

BOOST_AUTO_TEST_CASE(two_streams_of_a_loader_are_independent) {
  const DataLoader loader(counted(12, std::make_shared<Reads>()), {.batch_size = 4, .workers = 1});
  for (int round = 0; round < 3; ++round) {
    detail::BatchStream a = loader.epoch(0), b = loader.epoch(0);
    for (const double first : {0.0, 4.0, 8.0}) {
      BOOST_TEST((*a.next())["x"].to_doubles()[0] == first);
      BOOST_TEST((*b.next())["x"].to_doubles()[0] == first);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_new_seed_reaches_the_next_stream_and_the_next_epoch) {
  const DataLoader loader(counted(20, std::make_shared<Reads>()), {.batch_size = 10, .shuffle = true, .workers = 1});
  const auto order = [&](std::int64_t seed, std::int64_t epoch) {
    return read(DataLoader(loader.dataset(), {.batch_size = 10, .shuffle = true, .seed = seed}).epoch(epoch));
  };
  seed_everything(1);
  detail::BatchStream stream = loader.stream({}, 4);
  stream.next();
  seed_everything(2);
  stream.next();
  std::vector<double> next;
  while (const auto batch = stream.next()) next = joined(next, (*batch)["x"].to_doubles());
  BOOST_TEST(next == order(2, 1), boost::test_tools::per_element());
  loader.epoch(5).next();
  seed_everything(3);
  BOOST_TEST(read(loader.epoch(5, 0)) == order(3, 5), boost::test_tools::per_element());
  seed_everything(0);
}

BOOST_AUTO_TEST_CASE(a_batch_that_failed_ahead_of_time_is_read_again) {
  const auto broken = std::make_shared<std::atomic<bool>>(true);
  const Dataset data =
      Dataset::from_function({.size = 4, .fields = {{.name = "x"}}, .function = [broken](std::int64_t index) {
                                if (*broken && index > 0) throw ValueError("no");
                                return std::vector{Tensor::scalar(static_cast<double>(index))};
                              }});
  const DataLoader loader(data, {.batch_size = 1, .workers = 1, .prefetch = 2});
  {
    detail::BatchStream stream = loader.epoch(0);
    stream.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  *broken = false;
  BOOST_TEST(read(loader.epoch(0, 1)) == (std::vector<double>{1, 2, 3}), boost::test_tools::per_element());
  *broken = true;
  detail::BatchStream failing = loader.epoch(0, 1);
  for (int i = 0; i < 2; ++i) check_throws<ValueError>("[DataLoader] sample 1: no", [&] { failing.peek(); });
  check_throws<ValueError>("[DataLoader] sample 1: no", [&] { failing.next(); });
}

BOOST_AUTO_TEST_CASE(a_fingerprint_tells_what_differs) {
  const auto reads = std::make_shared<Reads>();
  const detail::LoaderFingerprint one = DataLoader(counted(10, reads), {.batch_size = 4}).fingerprint();
  BOOST_TEST(one.fields == "x int64 ()");
  BOOST_TEST(one.order == "SequentialSampler(10)");
  BOOST_TEST(one.differences(one).empty());
  const detail::LoaderFingerprint other =
      DataLoader(counted(12, reads), {.batch_size = 5, .shuffle = true, .seed = 7}).fingerprint();
  BOOST_TEST(
      other.differences(one) ==
      "number of samples 12, was 10; order RandomSampler(12, replacement = false, num_samples = 12), seed 7, was "
      "SequentialSampler(10); batch_size 5, was 4");
  const detail::LoaderFingerprint larger = DataLoader(counted(10, reads), {.batch_size = 8}).fingerprint();
  BOOST_TEST(larger.differences(one) == "batch_size 8, was 4");
  BOOST_TEST(larger.differences(one, true).empty());
  check_throws<ValueError>("[DataLoader] fingerprint() needs a loader with a data set; got an absent loader",
                           [] { (void)DataLoader().fingerprint(); });
}

BOOST_AUTO_TEST_SUITE_END()
