#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>

#include <mezzo/data/loader.hpp>

#include "support/child.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

using Numbers = std::vector<double>;

/// Gives 100 * epoch + 0, 1, ... `count` - 1; counts the reads.
IterableDataset counting(std::int64_t count, const std::shared_ptr<std::atomic<int>>& reads) {
  return IterableDataset({.fields = {{.name = "x", .dtype = DType::int64}}, .function = [=](std::int64_t epoch) {
                            return [=, i = std::int64_t{0}]() mutable -> std::optional<std::vector<Tensor>> {
                              if (i == count) return std::nullopt;
                              ++*reads;
                              return std::vector{Tensor::scalar(static_cast<double>(100 * epoch + i++), DType::int64)};
                            };
                          }});
}

/// The same in parts: part i has the numbers that leave the rest i.
IterableDataset in_parts(std::int64_t count) {
  IterableDatasetOptions options{.fields = {{.name = "x", .dtype = DType::int64}}};
  options.part_function = [=](const detail::IterablePart& part) -> detail::SampleGenerator {
    return [=, i = std::int64_t{part.index}]() mutable -> std::optional<std::vector<Tensor>> {
      if (i >= count) return std::nullopt;
      const std::vector<Tensor> sample{Tensor::scalar(static_cast<double>(i), DType::int64)};
      i += part.count;
      return sample;
    };
  };
  return IterableDataset(options);
}

std::vector<Numbers> read(detail::BatchStream stream) {
  std::vector<Numbers> batches;
  while (const auto batch = stream.next()) batches.push_back((*batch)["x"].to_doubles());
  BOOST_TEST(!stream.next().has_value());
  BOOST_TEST(stream.peek() == nullptr);
  return batches;
}

std::shared_ptr<std::atomic<int>> counter() { return std::make_shared<std::atomic<int>>(0); }

}  // namespace

BOOST_AUTO_TEST_SUITE(iterable_dataset)

BOOST_AUTO_TEST_CASE(an_epoch_ends_with_the_last_sample) {
  for (const int workers : {0, 1}) {
    const DataLoader loader(counting(5, counter()), {.batch_size = 2, .workers = workers});
    BOOST_TEST(!loader.empty());
    BOOST_TEST(!loader.sized());
    BOOST_TEST((read(loader.epoch(0)) == std::vector<Numbers>{{0, 1}, {2, 3}, {4}}));
    BOOST_TEST((read(loader.epoch(2)) == std::vector<Numbers>{{200, 201}, {202, 203}, {204}}));
    BOOST_TEST((read(loader.epoch(0, 1)) == std::vector<Numbers>{{2, 3}, {4}}));
    BOOST_TEST((read(loader.stream({.epoch = 0}, 2)) == std::vector<Numbers>{{0, 1}, {2, 3}}));
    BOOST_TEST((read(loader.stream({.epoch = 0, .samples = 3}, 9)) == std::vector<Numbers>{{3}, {4}}));
    const DataLoader whole(counting(5, counter()), {.batch_size = 2, .drop_last = true, .workers = workers});
    BOOST_TEST((read(whole.epoch(0)) == std::vector<Numbers>{{0, 1}, {2, 3}}));
    BOOST_TEST(read(DataLoader(counting(0, counter()), {.workers = workers}).epoch(0)).empty());
  }
}

BOOST_AUTO_TEST_CASE(a_stream_goes_on_where_the_last_one_stopped) {
  for (const int workers : {0, 1}) {
    const auto reads = counter();
    const DataLoader loader(counting(8, reads), {.batch_size = 2, .workers = workers});
    BOOST_TEST((*loader.stream({}, 1).peek())["x"].to_doubles()[0] == 0);
    {
      detail::BatchStream stream = loader.stream({}, 3);
      stream.next();
      stream.next();
    }
    BOOST_TEST((read(loader.stream({.epoch = 0, .samples = 4}, 3)) == std::vector<Numbers>{{4, 5}, {6, 7}}));
    BOOST_TEST(*reads == 8);
  }
}

BOOST_AUTO_TEST_CASE(workers_make_parts_in_turn) {
  const std::vector<Numbers> expected{{0, 3}, {1, 4}, {2, 5}, {6, 9}, {7}, {8}};
  for (int round = 0; round < 20; ++round) {
    const DataLoader loader(in_parts(10), {.batch_size = 2, .workers = 3});
    BOOST_TEST((read(loader.epoch(0)) == expected));
    const std::vector<Numbers> later(expected.begin() + 2, expected.end());
    BOOST_TEST((read(loader.stream({.epoch = 0, .samples = 4}, 9)) == later));
  }
  const DataLoader uneven(in_parts(2), {.batch_size = 2, .workers = 3});
  BOOST_TEST((read(uneven.epoch(0)) == std::vector<Numbers>{{0}, {1}}));
}

BOOST_AUTO_TEST_CASE(batches_are_padded_mapped_and_collated) {
  IterableDatasetOptions options{.fields = {{.name = "x", .shape = {-1}}}};
  options.function = [](std::int64_t) {
    return [i = std::int64_t{0}]() mutable -> std::optional<std::vector<Tensor>> {
      if (i == 3) return std::nullopt;
      return std::vector{Tensor({++i})};
    };
  };
  const IterableDataset data(options);
  const DataLoader loader(data, {.batch_size = 2, .bucket_boundaries = {2, 4}});
  detail::BatchStream stream = loader
                                   .map([](HostBatch batch, std::int64_t, std::int64_t) {
                                     batch.fields[0].tensor = batch.fields[0].tensor.cast(DType::int32);
                                     return batch;
                                   })
                                   .epoch(0);
  BOOST_TEST((*stream.next())["x"].describe() == "int32 (2, 2)");
  BOOST_TEST((*stream.next())["x"].describe() == "int32 (1, 4)");
}

BOOST_AUTO_TEST_CASE(an_exception_comes_out_in_its_place) {
  IterableDatasetOptions options{.fields = {{.name = "x"}}};
  options.function = [](std::int64_t) {
    return [i = 0]() mutable -> std::optional<std::vector<Tensor>> {
      if (i++ == 3) throw FileError("line 3 is cut");
      return std::vector{Tensor::scalar(1)};
    };
  };
  for (const int workers : {0, 1}) {
    const DataLoader loader(IterableDataset(options), {.batch_size = 2, .workers = workers});
    detail::BatchStream stream = loader.epoch(0);
    BOOST_TEST(stream.next()->size == 2);
    for (int i = 0; i < 2; ++i) {
      check_throws<FileError>("[DataLoader] batch 1: line 3 is cut", [&] { stream.next(); });
    }
  }
  options.function = [](std::int64_t) { return [] { return std::optional(std::vector{Tensor({2})}); }; };
  check_throws<ShapeError>("[DataLoader] batch 0: field \"x\" must be float32 (); got float32 (2,)",
                           [&] { DataLoader(IterableDataset(options)).epoch(0).next(); });
  options.function = [](std::int64_t) { return detail::SampleGenerator(); };
  check_throws<ValueError>("[IterableDataset] the function must return a generator; got an empty one",
                           [&] { DataLoader(IterableDataset(options)).epoch(0); });
}

BOOST_AUTO_TEST_CASE(a_child_refuses_to_go_on) {
  const DataLoader loader(counting(100, counter()), {.batch_size = 2, .workers = 1});
  detail::BatchStream stream = loader.epoch(0);
  stream.next();
  BOOST_TEST(mezzo_tests::in_child([&] {
    try {
      stream.next();
    } catch (const Error&) {
      detail::BatchStream other = loader.epoch(0);
      return (*other.next())["x"].to_doubles()[0] == 0;
    }
    return false;
  }));
  BOOST_TEST((*stream.next())["x"].to_doubles()[0] == 2);
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
  const auto make = [](const DataLoaderOptions& options) {
    return [options] { DataLoader(counting(3, counter()), options); };
  };
  check_throws<ValueError>("[DataLoader] an iterable data set has its own order; got shuffle", make({.shuffle = true}));
  check_throws<ValueError>(
      "[DataLoader] workers must be at most 1 for an iterable data set without part_function; got 2",
      make({.workers = 2}));
  check_throws<ValueError>("[DataLoader] batch_size must be 1 or more; got 0", make({.batch_size = 0}));
  const DataLoader loader(counting(3, counter()));
  check_throws<ValueError>("[DataLoader] size() needs a data set of known size; got an iterable one",
                           [&] { (void)loader.size(); });
  check_throws<ValueError>("[DataLoader] with_dataset() needs a data set of known size; got an iterable one",
                           [&] { (void)loader.with_dataset(Dataset()); });
  check_throws<ValueError>("[DataLoader] samples of a position must be at most 3, those of the epoch; got 4",
                           [&] { loader.stream({.epoch = 0, .samples = 4}, 1); });
  BOOST_TEST(loader.fingerprint().order == "IterableDataset, 1 parts");
  check_throws<ValueError>("[IterableDataset] one of function and part_function must be given; got neither",
                           [] { IterableDataset({.fields = {{.name = "x"}}}); });
}

BOOST_AUTO_TEST_SUITE_END()
