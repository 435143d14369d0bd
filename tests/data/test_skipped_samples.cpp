// Loaders with on_error = "skip": samples that can't be read are left out, counted and told.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <mezzo/data/loader.hpp>

#include "support/captured.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using boost::test_tools::per_element;
using mezzo_tests::CapturedOutput;
using mezzo_tests::check_throws;

namespace {

using Indices = std::vector<double>;

// Sample i is i; samples 3, 4 and 9 of 12 are broken.
Dataset partly_broken(std::vector<std::int64_t> broken = {3, 4, 9}, bool open = false) {
  return Dataset::from_function(
      {.size = 12,
       .fields = {{.name = "x", .shape = open ? Shape{-1} : Shape{}, .dtype = DType::int64}},
       .function = [broken = std::move(broken), open](std::int64_t index) -> std::vector<Tensor> {
         if (std::find(broken.begin(), broken.end(), index) != broken.end()) throw FileError("truncated");
         const auto number = static_cast<double>(index);
         if (open) {
           const std::int64_t length = index % 2 + 1;
           return {Tensor({length}, Indices(static_cast<std::size_t>(length), number)).cast(DType::int64)};
         }
         return {Tensor::scalar(number, DType::int64)};
       }});
}

std::vector<Indices> batches_of(detail::BatchStream stream, std::int64_t* skipped = nullptr) {
  std::vector<Indices> out;
  while (const auto batch = stream.next()) {
    out.push_back((*batch)["x"].to_doubles());
    BOOST_TEST(batch->size == (*batch)["x"].shape()[0]);
    if (skipped != nullptr) *skipped += batch->skipped;
  }
  return out;
}

const std::vector<Indices> readable{{0, 1, 2}, {5, 6, 7}, {8, 10, 11}};
const std::vector<std::int64_t> broken{3, 4, 9};

std::string warning_of(std::int64_t sample) {
  return "mezzo: warning: [DataLoader] sample " + std::to_string(sample) + ": truncated; the sample is skipped\n";
}

constexpr const char* count_warning =
    "mezzo: warning: [DataLoader] 3 samples of a pass could not be read and were skipped\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(skipped_samples)

BOOST_AUTO_TEST_CASE(batches_have_the_readable_samples) {
  for (const int workers : {0, 1, 3}) {
    const DataLoader loader(partly_broken(), {.batch_size = 4, .workers = workers, .on_error = "skip"});
    BOOST_TEST(loader.skipped_samples() == 0);
    const DataLoader copy = loader;
    for (const int pass : {1, 2, 3}) {
      const CapturedOutput output;
      std::int64_t skipped = 0;
      BOOST_TEST(batches_of(loader.epoch(pass), &skipped) == readable);
      BOOST_TEST(skipped == 3);
      BOOST_TEST(copy.skipped_samples() == 3 * pass);
      // Workers read ahead: the sample that the first warning names is the one that was met first.
      const std::vector<std::int64_t> named = workers < 2 ? std::vector<std::int64_t>{3} : broken;
      BOOST_TEST(std::any_of(named.begin(), named.end(), [&](std::int64_t sample) {
        return output.text() == (pass == 1 ? warning_of(sample) : "") + count_warning;
      }));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_default_is_an_error) {
  const DataLoader loader(partly_broken(), {.batch_size = 4});
  check_throws<FileError>("[DataLoader] sample 3: truncated", [&] { batches_of(loader.epoch(0)); });
  BOOST_TEST(loader.skipped_samples() == 0);
  check_throws<NameError>("[DataLoader] unknown on_error \"ignore\"; valid names: raise, skip",
                          [] { DataLoader(partly_broken(), {.on_error = "ignore"}); });
}

BOOST_AUTO_TEST_CASE(a_stream_of_several_passes_tells_of_each) {
  const DataLoader loader(partly_broken(), {.batch_size = 4, .on_error = "skip"});
  const CapturedOutput output;
  {
    detail::BatchStream stream = loader.stream({}, 5);
    for (int i = 0; i < 5; ++i) BOOST_TEST(stream.next()->size == 3);
  }
  // The second pass ends after its second batch.
  BOOST_TEST(output.text() == warning_of(3) + count_warning +
                                  "mezzo: warning: [DataLoader] 2 samples of a pass could not be read and were "
                                  "skipped\n");
}

BOOST_AUTO_TEST_CASE(collate_padding_and_map_get_the_readable_samples) {
  const CapturedOutput output;
  std::vector<std::size_t> given;
  const DataLoader collated(partly_broken(), {.batch_size = 4,
                                              .workers = 0,
                                              .collate =
                                                  [&](const std::vector<detail::DatasetSample>& samples) {
                                                    given.push_back(samples.size());
                                                    Indices x;
                                                    for (const auto& sample : samples) {
                                                      x.push_back(sample.front().tensor.item());
                                                    }
                                                    const auto size = static_cast<std::int64_t>(x.size());
                                                    return HostBatch{{{"x", Tensor({size}, x)}}, size};
                                                  },
                                              .on_error = "skip"});
  std::int64_t skipped = 0;
  BOOST_TEST(batches_of(collated.epoch(0), &skipped) == readable);
  BOOST_TEST(given == (std::vector<std::size_t>{3, 3, 3}), per_element());
  BOOST_TEST(skipped == 3);

  const DataLoader padded(partly_broken({3, 4, 9}, true), {.batch_size = 4, .on_error = "skip"});
  skipped = 0;
  const std::vector<Indices> rows = batches_of(padded.epoch(0), &skipped);
  BOOST_TEST(rows.at(0) == (Indices{0, 0, 1, 1, 2, 0}), per_element());
  BOOST_TEST(skipped == 3);

  const DataLoader mapped = DataLoader(partly_broken(), {.batch_size = 4, .on_error = "skip"})
                                .map([](const HostBatch& batch, std::int64_t, std::int64_t) {
                                  return HostBatch{batch.fields, batch.size};
                                });
  skipped = 0;
  BOOST_TEST(batches_of(mapped.epoch(0), &skipped) == readable);
  BOOST_TEST(skipped == 3);
}

BOOST_AUTO_TEST_CASE(a_batch_without_samples_is_an_error) {
  const CapturedOutput output;
  for (const bool open : {false, true}) {
    const DataLoader loader(partly_broken({4, 5, 6, 7}, open), {.batch_size = 4, .on_error = "skip"});
    detail::BatchStream stream = loader.epoch(0);
    BOOST_TEST(stream.next()->size == 4);
    check_throws<ValueError>("[DataLoader] a batch must have a sample that can be read; got errors of all its 4",
                             [&] { stream.next(); });
  }
}

BOOST_AUTO_TEST_CASE(missing_memory_is_no_broken_sample) {
  const DataLoader loader(Dataset::from_function({.size = 2,
                                                  .fields = {{.name = "x"}},
                                                  .function = [](std::int64_t) -> std::vector<Tensor> {
                                                    throw MemoryError("too little");
                                                  }}),
                          {.on_error = "skip"});
  check_throws<MemoryError>("[DataLoader] sample 0: too little", [&] { loader.epoch(0).next(); });
}

BOOST_AUTO_TEST_CASE(a_position_counts_skipped_samples) {
  const CapturedOutput output;
  const DataLoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 2, .on_error = "skip"};
  const DataLoader loader(partly_broken(), options);
  const std::vector<Indices> all = batches_of(loader.epoch(0));
  std::int64_t samples = 0;
  detail::BatchStream stream = loader.epoch(0);
  for (const Indices& one : all) {
    const DataLoader fresh(partly_broken(), options);
    BOOST_TEST((*fresh.stream({.samples = samples}, 1).next())["x"].to_doubles() == one, per_element());
    const auto batch = stream.next();
    samples += batch->size + batch->skipped;
  }
  BOOST_TEST(samples == 12);
}

BOOST_AUTO_TEST_CASE(generators_skip_themselves) {
  const IterableDataset data({.fields = {{.name = "x"}}, .function = [](std::int64_t) {
                                return [] { return std::optional<std::vector<Tensor>>(); };
                              }});
  check_throws<ValueError>(
      "[DataLoader] on_error must be \"raise\" for an iterable data set, whose generator may skip samples itself; got "
      "\"skip\"",
      [&] { DataLoader(data, {.on_error = "skip"}); });
}

BOOST_AUTO_TEST_SUITE_END()
