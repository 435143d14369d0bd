#include <boost/test/unit_test.hpp>

#include <malloc.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <mezzo/data/loader.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

// A data set of that size whose samples are their indices.
class Indices : public DatasetSource {
 public:
  explicit Indices(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override { *static_cast<std::int64_t*>(out[0]) = index; }

 private:
  std::int64_t size_;
  std::vector<Field> fields_{{.name = "x", .dtype = DType::int64}};
};

std::vector<double> all(const Dataset& data) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(data.size()));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return data.gather(indices)["x"].to_doubles();
}

Dataset floats(std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Dataset::from_tensors({{"x", Tensor({count}, values)}});
}

// Bytes that are allocated now, large blocks included.
std::size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(views)

BOOST_AUTO_TEST_CASE(ranges_are_successive_samples) {
  const Dataset data = Indices(10);
  BOOST_TEST(all(data.range(2, 5)) == (std::vector<double>{2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(data.range(3, 3).size() == 0);
  BOOST_TEST(all(data.range(2, 8).range(1, 3)) == (std::vector<double>{3, 4}), boost::test_tools::per_element());
  check_throws<ValueError>("[Dataset.range] begin and end must satisfy 0 <= begin <= end <= 10; got 4 and 11",
                           [&] { data.range(4, 11); });
  check_throws<ValueError>("[Dataset.range] begin and end must satisfy 0 <= begin <= end <= 10; got 4 and 3",
                           [&] { data.range(4, 3); });
}

BOOST_AUTO_TEST_CASE(large_sets_are_split_and_shuffled_in_little_memory) {
  const std::size_t before = allocated();
  const Dataset data = Indices(100'000'000);
  const auto [train, validation] = data.split(0.9);
  const std::vector<Dataset> parts = data.random_split({0.9, 0.1}, 5);
  const DataLoader loader(parts[0], {.batch_size = 4, .shuffle = true, .workers = 1});
  detail::BatchStream stream = loader.epoch(0);
  BOOST_TEST(stream.next()->size == 4);
  const std::size_t after = allocated();
  // Sanitizers have an allocator of their own, which mallinfo2() doesn't know.
  BOOST_TEST((after > before ? after - before : 0U) < (std::size_t{1} << 20));
  BOOST_TEST(train.size() == 90'000'000);
  BOOST_TEST(all(validation.take(2)) == (std::vector<double>{90'000'000, 90'000'001}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(random_parts_have_each_sample_once) {
  const Dataset data = Indices(11);
  const std::vector<Dataset> parts = data.random_split({0.5, 0.25, 0.25}, 3);
  BOOST_REQUIRE(parts.size() == 3U);
  BOOST_TEST(parts[0].size() == 6);
  BOOST_TEST(parts[1].size() == 3);
  BOOST_TEST(parts[2].size() == 2);
  std::vector<double> samples;
  for (const Dataset& part : parts) {
    for (const double sample : all(part)) samples.push_back(sample);
  }
  BOOST_TEST((samples != all(data)));
  BOOST_TEST(std::set<double>(samples.begin(), samples.end()).size() == 11U);
  BOOST_TEST((all(data.random_split({1}, 3)[0]) == samples));
  BOOST_TEST((all(data.random_split({1}, 4)[0]) != samples));
  BOOST_TEST(Dataset().random_split({0.5, 0.5}).size() == 2U);
  check_throws<ValueError>("[Dataset.random_split] fractions must have sum 1; got 0.5",
                           [&] { data.random_split({0.5}); });
  check_throws<ValueError>("[Dataset.random_split] fractions must be 0 or more; got -0.5", [&] {
    data.random_split({1.5, -0.5});
  });
}

BOOST_AUTO_TEST_CASE(data_sets_follow_one_another) {
  const Dataset a = floats({1, 2}), none = floats({}), b = floats({3});
  BOOST_TEST(all(Dataset::concat({a, none, b, a})) == (std::vector<double>{1, 2, 3, 1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(all(a + b) == (std::vector<double>{1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST((a + Dataset()).size() == 2);
  check_throws<ValueError>("[Dataset.concat] there must be a data set with fields; got none",
                           [] { Dataset::concat({Dataset()}); });
  check_throws<ValueError>(
      "[Dataset.concat] field 0 of data set 1 must be \"x\" float32 () (input), as in the first one; got \"x\" int64 "
      "() "
      "(input)",
      [&] { (void)(a + Indices(2)); });
  const Dataset two = Dataset::from_tensors({{"x", Tensor({1})}, {"y", Tensor({1})}});
  check_throws<ValueError>("[Dataset.concat] data set 1 must have 1 fields, as the first one; got 2",
                           [&] { (void)(a + two); });
}

BOOST_AUTO_TEST_CASE(views_know_the_epoch) {
  FunctionDatasetOptions options{.size = 4, .fields = {{.name = "x"}}};
  options.epoch_function = [](std::int64_t index, std::int64_t epoch) {
    return std::vector{Tensor::scalar(static_cast<double>(10 * epoch + index))};
  };
  const Dataset data = Dataset::from_function(options);
  const DataLoader loader(data.range(2, 4) + data.take(1), {.batch_size = 3});
  BOOST_TEST((*loader.epoch(4).next())["x"].to_doubles() == (std::vector<double>{42, 43, 40}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
