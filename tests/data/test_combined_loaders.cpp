// CombinedLoader, compared with the batches that Lightning's class gives.
#include <boost/test/unit_test.hpp>

#include <numeric>
#include <string>
#include <vector>

#include <mezzo/data/combined_loader.hpp>
#include <mezzo/data/loaders.hpp>

#include "support/recorded.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using boost::test_tools::per_element;
using mezzo_tests::check_throws;
using mezzo_tests::recorded;

namespace {

// Samples first, first + 1, ...
DataLoader counted_from(double first, std::int64_t samples, const DataLoaderOptions& options = {.batch_size = 1}) {
  std::vector<double> x(static_cast<std::size_t>(samples));
  std::iota(x.begin(), x.end(), first);
  return DataLoader(Dataset::from_tensors({{"x", Tensor({samples}, x)}}), options);
}

// The loaders of parity/lightning_loaders.py.
CombinedLoader three_loaders(const std::string& mode, const DataLoaderOptions& options = {.batch_size = 1}) {
  return CombinedLoader(
      {{"a", counted_from(0, 3, options)}, {"b", counted_from(10, 5, options)}, {"c", counted_from(20, 2, options)}},
      {.mode = mode});
}

// "a/x=0 b/x=10"
std::string text_of_batch(const HostBatch& batch) {
  std::string text;
  for (const detail::NamedTensor& field : batch.fields) {
    text += field.name + "=";
    for (const double number : field.tensor.to_doubles()) text += std::to_string(static_cast<int>(number)) + " ";
  }
  return text;
}

std::vector<std::string> texts_of_batches(detail::BatchStream stream) {
  std::vector<std::string> out;
  while (const auto batch = stream.next()) out.push_back(text_of_batch(*batch));
  return out;
}

std::vector<std::string> of_lightning(const std::string& mode, int epoch) {
  std::vector<std::string> out;
  for (const auto& batch : recorded("lightning_loaders").at(mode)) {
    if (batch[0] != epoch) continue;
    std::string text;
    for (const auto& [name, number] : batch[2].items()) {
      if (!number.is_null()) text += name + "/x=" + std::to_string(number.get<int>()) + " ";
    }
    out.push_back(text);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(combined_loaders)

BOOST_AUTO_TEST_CASE(modes_are_those_of_lightning) {
  for (const char* mode : {"min_size", "max_size_cycle", "max_size"}) {
    for (const int workers : {0, 2}) {
      const DataLoader loader = three_loaders(mode, {.batch_size = 1, .workers = workers});
      for (const int epoch : {0, 1}) {
        const std::vector<std::string> expected = of_lightning(mode, epoch);
        BOOST_TEST(loader.size() == static_cast<std::int64_t>(expected.size()));
        BOOST_TEST(texts_of_batches(loader.epoch(epoch)) == expected, per_element());
      }
    }
  }
  BOOST_TEST(CombinedLoader({{"a", counted_from(0, 3)}}).mode() == "min_size");
}

BOOST_AUTO_TEST_CASE(sequential_gives_all_batches_with_their_own_names) {
  const DataLoader loader = three_loaders("sequential", {.batch_size = 2});
  BOOST_TEST(loader.size() == 6);
  const std::vector<std::string> expected{"x=0 1 ", "x=2 ", "x=10 11 ", "x=12 13 ", "x=14 ", "x=20 21 "};
  BOOST_TEST(texts_of_batches(loader.epoch(0)) == expected, per_element());
  const DataLoaders list = loader;
  BOOST_TEST(list.size() == 3U);
  BOOST_TEST(list[1].samples() == 5);
  BOOST_TEST(DataLoaders(DataLoader(three_loaders("max_size"))).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_stream_begins_at_any_batch) {
  for (const char* mode : {"min_size", "max_size_cycle", "max_size", "sequential"}) {
    const DataLoaderOptions options{.batch_size = 2, .shuffle = true, .seed = 4};
    const DataLoader loader = three_loaders(mode, options);
    std::vector<std::string> all = texts_of_batches(loader.epoch(0));
    const std::vector<std::string> second = texts_of_batches(loader.epoch(1));
    BOOST_TEST(all != second);
    all.insert(all.end(), second.begin(), second.end());
    BOOST_TEST(texts_of_batches(loader.stream({}, 2 * loader.size())) == all, per_element());
    for (std::int64_t first = 0; first < loader.size(); ++first) {
      const std::vector<std::string> rest(all.begin() + first, all.end());
      const auto count = static_cast<std::int64_t>(rest.size());
      BOOST_TEST(texts_of_batches(loader.stream({.batches = first}, count)) == rest, per_element());
      const DataLoader fresh = three_loaders(mode, options);
      BOOST_TEST(texts_of_batches(fresh.stream({.batches = first}, count)) == rest, per_element());
      const std::vector<std::string> of_epoch(all.begin() + first, all.begin() + loader.size());
      BOOST_TEST(texts_of_batches(loader.epoch(0, first)) == of_epoch, per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_loader_that_begins_again_has_another_order) {
  const DataLoaderOptions shuffled{.batch_size = 6, .shuffle = true, .seed = 1};
  const DataLoader loader = CombinedLoader({{"short", counted_from(0, 6, shuffled)}, {"long", counted_from(0, 3)}},
                                           {.mode = "max_size_cycle"});
  std::vector<std::vector<double>> orders;
  for (const int epoch : {0, 1}) {
    detail::BatchStream stream = loader.epoch(epoch);
    while (const auto batch = stream.next()) orders.push_back((*batch)["short/x"].to_doubles());
  }
  BOOST_TEST(orders.size() == 6U);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    // Pass i of the short loader alone.
    const DataLoader alone = counted_from(0, 6, shuffled);
    BOOST_TEST((*alone.epoch(static_cast<std::int64_t>(i)).next())["x"].to_doubles() == orders[i], per_element());
  }
}

BOOST_AUTO_TEST_CASE(peek_and_map_see_whole_batches) {
  DataLoader loader =
      CombinedLoader(std::vector<DataLoader>{counted_from(0, 4, {.batch_size = 2}), counted_from(10, 3)});
  {
    detail::BatchStream stream = loader.epoch(0);
    BOOST_TEST(text_of_batch(*stream.peek()) == "0/x=0 1 1/x=10 ");
    BOOST_TEST(text_of_batch(*stream.peek()) == "0/x=0 1 1/x=10 ");
    const auto first = stream.next(), second = stream.next();
    BOOST_TEST(text_of_batch(*first) == "0/x=0 1 1/x=10 ");
    BOOST_TEST(first->size == 2);  // of the first loader
    BOOST_TEST(text_of_batch(*second) == "0/x=2 3 1/x=11 ");
    BOOST_TEST((stream.peek() == nullptr && !stream.next()));
  }
  const DataLoader mapped = loader.map([](HostBatch batch, std::int64_t index, std::int64_t epoch) {
    batch.fields[1].tensor = Tensor({2}, std::vector<double>{static_cast<double>(index), static_cast<double>(epoch)});
    return batch;
  });
  const std::vector<std::string> expected{"0/x=0 1 1/x=0 3 ", "0/x=2 3 1/x=1 3 "};
  BOOST_TEST(texts_of_batches(mapped.epoch(3)) == expected, per_element());
}

BOOST_AUTO_TEST_CASE(no_batch_is_read_twice) {
  auto reads = std::make_shared<std::vector<int>>(6);
  const Dataset watched = Dataset::from_function(
      {.size = 6, .fields = {{.name = "x", .dtype = DType::int64}}, .function = [reads](std::int64_t index) {
         ++(*reads)[static_cast<std::size_t>(index)];
         return std::vector<Tensor>{Tensor::scalar(static_cast<double>(index), DType::int64)};
       }});
  const DataLoader loader =
      CombinedLoader({{"a", DataLoader(watched, {.batch_size = 2, .prefetch = 4})}, {"b", counted_from(0, 2)}});
  loader.stream({}, 1).peek();
  BOOST_TEST(loader.stream({}, 1).next().has_value());
  BOOST_TEST(loader.stream({.batches = 1}, 1).next().has_value());
  // min_size: 2 of 3 batches.
  BOOST_TEST(*reads == (std::vector<int>{1, 1, 1, 1, 0, 0}), per_element());
}

BOOST_AUTO_TEST_CASE(fingerprints_differ_in_all_that_positions_depend_on) {
  const auto fingerprint = [](const CombinedLoader& loader) { return DataLoader(loader).fingerprint(); };
  const detail::LoaderFingerprint before = fingerprint({{"a", counted_from(0, 4)}, {"b", counted_from(0, 2)}});
  BOOST_TEST(fingerprint({{"a", counted_from(0, 4)}, {"b", counted_from(0, 2)}}).differences(before) == "");
  const std::vector<detail::LoaderFingerprint> others{
      fingerprint(CombinedLoader({{"a", counted_from(0, 4)}, {"b", counted_from(0, 2)}}, {.mode = "max_size"})),
      fingerprint({{"a", counted_from(0, 4)}, {"c", counted_from(0, 2)}}),
      fingerprint({{"a", counted_from(0, 2)}, {"b", counted_from(0, 4)}}),
      fingerprint({{"a", counted_from(0, 4, {.batch_size = 2})}, {"b", counted_from(0, 2)}}),
      fingerprint({{"a", counted_from(0, 4, {.batch_size = 1, .drop_last = true})}, {"b", counted_from(0, 2)}}),
      fingerprint({{"a", counted_from(0, 4, {.batch_size = 1, .shuffle = true})}, {"b", counted_from(0, 2)}})};
  for (const detail::LoaderFingerprint& other : others) BOOST_TEST(other.differences(before, true) != "");
  BOOST_TEST(before.order ==
             "CombinedLoader min_size (a: 4 samples, SequentialSampler(4), in batches of 1; b: 2 samples, "
             "SequentialSampler(2), in batches of 1)");
}

BOOST_AUTO_TEST_CASE(errors_name_the_loader) {
  const DataLoader one = counted_from(0, 3);
  check_throws<NameError>(
      "[CombinedLoader] unknown mode \"longest\"; valid names: min_size, max_size_cycle, max_size, sequential", [&] {
        CombinedLoader({{"a", one}}, {.mode = "longest"});
      });
  check_throws<ValueError>("[CombinedLoader] there must be a loader; got none",
                           [] { CombinedLoader(std::vector<CombinedLoader::Entry>()); });
  check_throws<NameError>("[CombinedLoader] names must differ and not be empty; got \"a\"", [&] {
    CombinedLoader({{"a", one}, {"a", one}});
  });
  check_throws<NameError>("[CombinedLoader] names must differ and not be empty; got \"\"", [&] {
    CombinedLoader({{"", one}});
  });
  check_throws<ValueError>("[CombinedLoader] loader \"b\" must have data; got an absent one", [&] {
    CombinedLoader({{"a", one}, {"b", DataLoader()}});
  });
  const IterableDataset endless({.fields = {{.name = "x"}}, .function = [](std::int64_t) {
                                   return [] { return std::optional<std::vector<Tensor>>(); };
                                 }});
  check_throws<ValueError>("[CombinedLoader] loader \"b\" must have a data set of known size; got an iterable one",
                           [&] {
                             CombinedLoader({{"a", one}, {"b", DataLoader(endless)}});
                           });
  const DataLoader combined = CombinedLoader({{"a", one}});
  check_throws<ValueError>("[DataLoader] with_batch_size() needs a loader of one data set; got a CombinedLoader",
                           [&] { combined.with_batch_size(2); });
  check_throws<ValueError>("[DataLoader] with_dataset() needs a loader of one data set; got a CombinedLoader",
                           [&] { combined.with_dataset(Dataset()); });
  check_throws<ValueError>("[DataLoader] batches of a position must lie in [0, 3); got 3",
                           [&] { combined.stream({.batches = 3}, 1); });
}

BOOST_AUTO_TEST_SUITE_END()
