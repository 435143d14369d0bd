#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <mezzo/data/loader.hpp>
#include <mezzo/data/permutation.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

// A data set of that size, whose samples can't be read.
class Unread : public DatasetSource {
 public:
  explicit Unread(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }

 private:
  std::int64_t size_;
  std::vector<Field> fields_{{.name = "x"}};
};

Dataset numbers(std::int64_t count) {
  Tensor x({count}, DType::int64);
  std::iota(x.mutable_data<std::int64_t>(), x.mutable_data<std::int64_t>() + count, 0);
  return Dataset::from_tensors({{"x", x}});
}

std::vector<std::int64_t> taken(const Sampler& sampler, std::int64_t epoch = 0, std::uint64_t seed = 0) {
  const detail::SampleOrder order = sampler.order(epoch, seed);
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < sampler.size(); ++i) out.push_back(order(i));
  return out;
}

std::vector<double> read(const DataLoader& loader, std::int64_t epoch = 0) {
  std::vector<double> all;
  detail::BatchStream stream = loader.epoch(epoch);
  while (const auto batch = stream.next()) {
    const auto part = (*batch)["x"].to_doubles();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

bool is_permutation_of_range(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

class Backwards : public Sampler {
 public:
  explicit Backwards(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  detail::SampleOrder order(std::int64_t, std::uint64_t) const override {
    return [last = size_ - 1](std::int64_t position) { return last - position; };
  }

 private:
  std::int64_t size_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(samplers)

BOOST_AUTO_TEST_CASE(computed_permutations_have_each_number_once) {
  for (const std::int64_t size : {1, 2, 3, 7, 100, 101, 4096, 70001}) {
    const detail::KeyedPermutation permutation(size);
    for (const std::uint64_t key : {0, 1, 99}) {
      std::vector<std::int64_t> all;
      for (std::int64_t i = 0; i < size; ++i) all.push_back(permutation.at(i, key));
      BOOST_TEST(is_permutation_of_range(all));
    }
  }
}

BOOST_AUTO_TEST_CASE(computed_permutations_send_each_position_everywhere) {
  const detail::KeyedPermutation permutation(10);
  std::map<std::pair<std::int64_t, std::int64_t>, int> seen;
  for (std::uint64_t key = 0; key < 10000; ++key) {
    for (std::int64_t i = 0; i < 10; ++i) ++seen[{i, permutation.at(i, key)}];
  }
  BOOST_TEST(seen.size() == 100U);
  // The expectation is 1000, the standard deviation 30.
  for (const auto& entry : seen) BOOST_TEST(std::abs(entry.second - 1000) < 150);
}

BOOST_AUTO_TEST_CASE(large_sets_are_shuffled_without_a_stored_order) {
  const Dataset data = Unread(100'000'000);
  const RandomSampler sampler(data);
  const detail::SampleOrder order = sampler.order(0, 3), other = sampler.order(1, 3);
  std::set<std::int64_t> seen;
  int equal = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    seen.insert(order(i * 99'999));
    equal += order(i) == other(i) ? 1 : 0;
  }
  BOOST_TEST(seen.size() == 1000U);
  BOOST_TEST(*seen.begin() >= 0);
  BOOST_TEST(*seen.rbegin() < 100'000'000);
  BOOST_TEST(equal == 0);
}

BOOST_AUTO_TEST_CASE(orders_of_both_kinds_meet_at_the_limit) {
  for (const std::int64_t size : {detail::largest_stored_order, detail::largest_stored_order + 1}) {
    BOOST_TEST(is_permutation_of_range(taken(RandomSampler(Unread(size)), 2, 5)));
  }
}

BOOST_AUTO_TEST_CASE(the_default_sampler_is_that_of_shuffle) {
  const DataLoader shuffled(numbers(20), {.batch_size = 3, .shuffle = true, .seed = 4});
  const DataLoader sampled(numbers(20), {.batch_size = 3, .seed = 4, .sampler = RandomSampler(numbers(20))});
  BOOST_TEST(read(shuffled, 1) == read(sampled, 1), boost::test_tools::per_element());
  const DataLoader plain(numbers(20)), in_order(numbers(20), {.sampler = SequentialSampler(numbers(20))});
  BOOST_TEST(read(plain) == read(in_order), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(random_samples_repeat_only_with_replacement) {
  const Dataset data = numbers(10);
  const std::vector<std::int64_t> with = taken(RandomSampler(data, {.replacement = true, .num_samples = 1000}));
  std::map<std::int64_t, int> seen;
  for (const std::int64_t index : with) ++seen[index];
  BOOST_TEST(seen.size() == 10U);
  for (const auto& entry : seen) BOOST_TEST(std::abs(entry.second - 100) < 50);
  BOOST_TEST(!is_permutation_of_range({with.begin(), with.begin() + 10}));

  const std::vector<std::int64_t> more = taken(RandomSampler(data, {.num_samples = 25}));
  BOOST_TEST(is_permutation_of_range({more.begin(), more.begin() + 10}));
  BOOST_TEST(is_permutation_of_range({more.begin() + 10, more.begin() + 20}));
  BOOST_TEST((std::vector<std::int64_t>(more.begin(), more.begin() + 10) !=
              std::vector<std::int64_t>(more.begin() + 10, more.begin() + 20)));
  const std::vector<std::int64_t> all = taken(RandomSampler(data)),
                                  few = taken(RandomSampler(data, {.num_samples = 4}));
  BOOST_TEST(few == std::vector<std::int64_t>(all.begin(), all.begin() + 4), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(weights_are_frequencies) {
  const WeightedRandomSampler sampler({1, 0, 3, 0}, 4000);
  std::map<std::int64_t, int> seen;
  for (const std::int64_t index : taken(sampler, 1, 2)) ++seen[index];
  BOOST_TEST(seen.size() == 2U);
  BOOST_TEST(std::abs(seen[2] - 3000) < 150);
  BOOST_TEST((taken(sampler, 1, 2) == taken(sampler, 1, 2)));
  BOOST_TEST((taken(sampler, 1, 2) != taken(sampler, 2, 2)));
  BOOST_TEST((taken(sampler, 1, 2) != taken(sampler, 1, 3)));
}

BOOST_AUTO_TEST_CASE(weighted_samples_without_replacement_occur_once) {
  const WeightedRandomSampler sampler({1, 0, 9, 0.5}, 3, {.replacement = false});
  int first = 0;
  for (std::int64_t epoch = 0; epoch < 1000; ++epoch) {
    std::vector<std::int64_t> order = taken(sampler, epoch);
    first += order[0] == 2 ? 1 : 0;
    std::sort(order.begin(), order.end());
    BOOST_TEST((order == std::vector<std::int64_t>{0, 2, 3}));
  }
  BOOST_TEST(std::abs(first - 857) < 60);  // 9 of 10.5
}

BOOST_AUTO_TEST_CASE(processes_divide_the_samples) {
  const auto part = [](std::int64_t rank, bool drop_last, bool shuffle) {
    return taken(
        DistributedSampler(numbers(7), {.num_replicas = 3, .rank = rank, .shuffle = shuffle, .drop_last = drop_last}));
  };
  BOOST_TEST((part(0, false, false) == std::vector<std::int64_t>{0, 3, 6}));
  BOOST_TEST((part(1, false, false) == std::vector<std::int64_t>{1, 4, 0}));
  BOOST_TEST((part(2, false, false) == std::vector<std::int64_t>{2, 5, 1}));
  BOOST_TEST((part(2, true, false) == std::vector<std::int64_t>{2, 5}));
  std::set<std::int64_t> all;
  for (const std::int64_t rank : {0, 1, 2}) {
    for (const std::int64_t index : part(rank, false, true)) all.insert(index);
  }
  BOOST_TEST(all.size() == 7U);
  const DistributedSampler weighted(WeightedRandomSampler({1, 1}, 10), {.num_replicas = 2, .rank = 1});
  BOOST_TEST(weighted.size() == 5);
  // A checkpoint of one process fits all of them.
  BOOST_TEST(weighted.describe() ==
             DistributedSampler(WeightedRandomSampler({1, 1}, 10), {.num_replicas = 2, .rank = 0}).describe());
}

BOOST_AUTO_TEST_CASE(a_sampler_of_the_users_own) {
  for (const int workers : {0, 2}) {
    const DataLoader loader(numbers(5), {.batch_size = 2, .workers = workers, .sampler = Backwards(5)});
    BOOST_TEST(read(loader) == (std::vector<double>{4, 3, 2, 1, 0}), boost::test_tools::per_element());
    const DataLoader wrong(numbers(3), {.batch_size = 2, .workers = workers, .sampler = Backwards(5)});
    check_throws<ValueError>("[DataLoader] the sampler's indices must lie in [0, 3); got 4 at position 0",
                             [&] { read(wrong); });
  }
  const DataLoader few(numbers(100), {.batch_size = 2, .sampler = RandomSampler(numbers(100), {.num_samples = 5})});
  BOOST_TEST(few.size() == 3);
  BOOST_TEST(few.samples() == 5);
  BOOST_TEST(read(few).size() == 5U);
  BOOST_TEST(Backwards(5).describe() == "Sampler of 5 samples");
}

BOOST_AUTO_TEST_CASE(options_of_samplers_are_checked) {
  const Dataset data = numbers(3);
  check_throws<ValueError>("[DataLoader] only one of sampler and shuffle must be given; got both",
                           [&] { DataLoader(data, {.shuffle = true, .sampler = SequentialSampler(data)}); });
  check_throws<ValueError>("[DataLoader] size() of the sampler must be 1 or more; got 0",
                           [&] { DataLoader(data, {.sampler = Backwards(0)}); });
  check_throws<ValueError>("[DataLoader.with_dataset] with a sampler the data set must have 3 samples; got 4", [&] {
    (void)DataLoader(data, {.sampler = SequentialSampler(data)}).with_dataset(numbers(4));
  });
  check_throws<ValueError>("[RandomSampler] num_samples must be 1 or more; got 0",
                           [&] { RandomSampler(data, {.num_samples = 0}); });
  check_throws<ValueError>("[RandomSampler] the data set must have samples; got 0",
                           [] { RandomSampler sampler(numbers(0)); });
  check_throws<ValueError>("[WeightedRandomSampler] weights must be 0 or more, and finite; got -1 for sample 1", [] {
    WeightedRandomSampler({1, -1}, 2);
  });
  check_throws<ValueError>("[WeightedRandomSampler] weights must be 0 or more, and finite; got nan for sample 0",
                           [] { WeightedRandomSampler({std::nan("")}, 2); });
  check_throws<ValueError>("[WeightedRandomSampler] a weight must be above 0; got none", [] {
    WeightedRandomSampler({0, 0}, 2);
  });
  check_throws<ValueError>("[WeightedRandomSampler] num_samples must be 1 or more; got 0",
                           [] { WeightedRandomSampler({1}, 0); });
  check_throws<ValueError>(
      "[WeightedRandomSampler] num_samples without replacement must be at most 1, the number of weights above 0; got 2",
      [] {
        WeightedRandomSampler({1, 0}, 2, {.replacement = false});
      });
  check_throws<ValueError>("[DistributedSampler] rank must lie in [0, 2); got 2",
                           [&] { DistributedSampler(data, {.num_replicas = 2, .rank = 2}); });
  check_throws<ValueError>("[DistributedSampler] num_replicas must be 1 or more; got 0",
                           [&] { DistributedSampler(data, {.num_replicas = 0}); });
  check_throws<ValueError>(
      "[DistributedSampler] with drop_last there must be a sample for each of 4 processes; got 3 samples",
      [&] { DistributedSampler(data, {.num_replicas = 4, .drop_last = true}); });
  check_throws<ValueError>("[DistributedSampler] sampler must be given; got an empty one",
                           [] { DistributedSampler(Any<Sampler>()); });
}

BOOST_AUTO_TEST_SUITE_END()
