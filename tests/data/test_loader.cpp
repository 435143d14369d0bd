#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include <mezzo/core/random.hpp>
#include <mezzo/data/loader.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

using Batches = std::vector<std::vector<double>>;

Dataset numbers(std::int64_t count) {
  Tensor x({count}, DType::int64);
  std::iota(x.mutable_data<std::int64_t>(), x.mutable_data<std::int64_t>() + count, 0);
  return Dataset::from_tensors({{"x", x}});
}

Batches read(detail::BatchStream stream) {
  Batches batches;
  while (const auto batch = stream.next()) batches.push_back((*batch)["x"].to_doubles());
  BOOST_TEST(!stream.next().has_value());
  return batches;
}

std::vector<double> flat(const Batches& batches) {
  std::vector<double> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

Batches tail(const Batches& batches, std::size_t first) {
  return {batches.begin() + static_cast<std::ptrdiff_t>(first), batches.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loader)

BOOST_AUTO_TEST_CASE(cuts_batches_in_order) {
  const DataLoader loader(numbers(7), {.batch_size = 3});
  BOOST_TEST(!loader.empty());
  BOOST_TEST(loader.size() == 3);
  BOOST_TEST((read(loader.epoch(0)) == Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
  const DataLoader whole(numbers(7), {.batch_size = 3, .drop_last = true});
  BOOST_TEST(whole.size() == 2);
  BOOST_TEST((read(whole.epoch(5)) == Batches{{0, 1, 2}, {3, 4, 5}}));
  BOOST_TEST((read(DataLoader(numbers(6), {.batch_size = 3}).epoch(0)).size() == 2));
  BOOST_TEST((read(DataLoader(numbers(2), {.batch_size = 64, .workers = 4}).epoch(0)) == Batches{{0, 1}}));
}

BOOST_AUTO_TEST_CASE(an_absent_loader_is_empty) {
  BOOST_TEST(DataLoader().empty());
  BOOST_TEST(DataLoader().size() == 0);
  check_throws<ValueError>("[DataLoader] epoch() needs a loader with a data set; got an absent loader",
                           [] { DataLoader().epoch(0); });
}

BOOST_AUTO_TEST_CASE(shuffling_is_a_permutation_fixed_by_seed_and_epoch) {
  const DataLoader loader(numbers(100), {.batch_size = 16, .shuffle = true, .seed = 3});
  std::vector<double> sorted = flat(read(loader.epoch(0)));
  const std::vector<double> first = sorted;
  std::sort(sorted.begin(), sorted.end());
  BOOST_TEST(sorted == flat(read(DataLoader(numbers(100)).epoch(0))), boost::test_tools::per_element());
  BOOST_TEST((first != sorted));
  BOOST_TEST((flat(read(loader.epoch(0))) == first));
  BOOST_TEST((flat(read(loader.epoch(1))) != first));
  const DataLoader other(numbers(100), {.batch_size = 16, .shuffle = true, .seed = 4});
  BOOST_TEST((flat(read(other.epoch(0))) != first));
  // The order does not depend on the batch size.
  const DataLoader small(numbers(100), {.batch_size = 7, .shuffle = true, .seed = 3});
  BOOST_TEST((flat(read(small.epoch(0))) == first));
}

BOOST_AUTO_TEST_CASE(the_order_is_the_recorded_one) {
  const DataLoader loader(numbers(8), {.batch_size = 8, .shuffle = true, .seed = 0});
  BOOST_TEST(flat(read(loader.epoch(0))) == (std::vector<double>{5, 7, 2, 1, 3, 4, 6, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(flat(read(loader.epoch(1))) == (std::vector<double>{6, 0, 1, 2, 3, 4, 5, 7}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_permutation_is_as_likely) {
  const DataLoader loader(numbers(3), {.batch_size = 3, .shuffle = true, .workers = 0, .seed = 1});
  std::map<std::vector<double>, int> seen;
  for (int epoch = 0; epoch < 6000; ++epoch) ++seen[flat(read(loader.epoch(epoch)))];
  BOOST_TEST(seen.size() == 6U);
  // The expectation is 1000, the standard deviation 29.
  for (const auto& [order, times] : seen) BOOST_TEST(std::abs(times - 1000) < 150);
}

BOOST_AUTO_TEST_CASE(workers_change_nothing) {
  for (const bool shuffle : {false, true}) {
    const DataLoader plain(numbers(101), {.batch_size = 4, .shuffle = shuffle, .workers = 0});
    for (const int workers : {1, 3}) {
      for (const int prefetch : {1, 5}) {
        const DataLoader loader(numbers(101),
                                {.batch_size = 4, .shuffle = shuffle, .workers = workers, .prefetch = prefetch});
        for (int epoch = 0; epoch < 3; ++epoch) BOOST_TEST((read(loader.epoch(epoch)) == read(plain.epoch(epoch))));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_epoch_resumes_at_any_batch) {
  for (const int workers : {0, 2}) {
    const DataLoader loader(numbers(30), {.batch_size = 4, .shuffle = true, .workers = workers});
    const Batches all = read(loader.epoch(2));
    for (const std::int64_t first : {1, 5, 8}) {
      BOOST_TEST((read(loader.epoch(2, first)) == tail(all, static_cast<std::size_t>(first))));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_seed_follows_seed_everything) {
  const DataLoader follows(numbers(50), {.batch_size = 50, .shuffle = true});
  const DataLoader own(numbers(50), {.batch_size = 50, .shuffle = true, .seed = 7});
  BOOST_TEST((read(follows.epoch(0)) != read(own.epoch(0))));
  seed_everything(7);
  BOOST_TEST((read(follows.epoch(0)) == read(own.epoch(0))));
  seed_everything(0);
}

BOOST_AUTO_TEST_CASE(a_batch_that_is_kept_never_changes) {
  for (const int workers : {0, 2}) {
    const DataLoader loader(numbers(40), {.batch_size = 4, .workers = workers});
    std::vector<HostBatch> kept;
    for (int epoch = 0; epoch < 3; ++epoch) {
      detail::BatchStream stream = loader.epoch(epoch);
      while (auto batch = stream.next()) kept.push_back(*std::move(batch));
    }
    BOOST_REQUIRE(kept.size() == 30U);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      BOOST_TEST(kept[i]["x"].to_doubles()[0] == 4.0 * static_cast<double>(i % 10));
    }
  }
}

BOOST_AUTO_TEST_CASE(batches_that_are_dropped_lend_their_storage) {
  for (const int workers : {0, 2}) {
    const DataLoader loader(numbers(400), {.batch_size = 4, .workers = workers});
    std::set<const void*> addresses;
    for (int epoch = 0; epoch < 3; ++epoch) {
      detail::BatchStream stream = loader.epoch(epoch);
      while (const auto batch = stream.next()) addresses.insert((*batch)["x"].raw());
    }
    BOOST_TEST(addresses.size() <= 8U);
  }
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
  const auto make = [](DataLoaderOptions options) { return [options] { DataLoader(numbers(3), options); }; };
  check_throws<ValueError>("[DataLoader] batch_size must be 1 or more; got 0", make({.batch_size = 0}));
  check_throws<ValueError>("[DataLoader] workers must be 0 or more; got -1", make({.workers = -1}));
  check_throws<ValueError>("[DataLoader] prefetch must be 1 or more; got 0", make({.prefetch = 0}));
  check_throws<ValueError>("[DataLoader] seed must be -1 or more; got -2", make({.seed = -2}));
  check_throws<ValueError>("[DataLoader] with drop_last, the data set must have at least batch_size = 4 samples; got 3",
                           make({.batch_size = 4, .drop_last = true}));
  check_throws<ValueError>("[DataLoader] the data set must have samples; got 0", [] { DataLoader(numbers(0)); });
  check_throws<ValueError>("[DataLoader] the data set must have samples; got 0", [] { DataLoader{Dataset()}; });
  const DataLoader loader(numbers(3), {.batch_size = 2});
  check_throws<ValueError>("[DataLoader] epoch must be 0 or more; got -1", [&] { loader.epoch(-1); });
  check_throws<ValueError>("[DataLoader] first_batch must lie in [0, 2]; got 3", [&] { loader.epoch(0, 3); });
  BOOST_TEST(read(loader.epoch(0, 2)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
