#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

#include <mezzo/data/loader.hpp>

#include "support/memory.hpp"
#include "support/skip.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

Dataset made_of(std::int64_t size, std::function<void(std::int64_t)> before) {
  return Dataset::from_function({.size = size,
                                 .fields = {{.name = "x", .dtype = DType::int64}},
                                 .function = [before = std::move(before)](std::int64_t index) {
                                   before(index);
                                   return std::vector<Tensor>{Tensor::scalar(static_cast<double>(index), DType::int64)};
                                 }});
}

Dataset broken_at(std::int64_t bad) {
  return made_of(100, [bad](std::int64_t index) {
    if (index == bad) throw FileError("cannot read \"" + std::to_string(index) + ".png\": truncated");
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loader_failures)

BOOST_AUTO_TEST_CASE(an_exception_comes_out_in_its_place_and_names_sample_and_file) {
  for (const int workers : {0, 1, 3}) {
    for (const int prefetch : {1, 4}) {
      const DataLoader loader(broken_at(17), {.batch_size = 4, .workers = workers, .prefetch = prefetch});
      detail::BatchStream stream = loader.epoch(0);
      for (int i = 0; i < 4; ++i) BOOST_TEST((*stream.next())["x"].to_doubles()[0] == 4.0 * i);
      for (int i = 0; i < 2; ++i) {
        check_throws<FileError>("[DataLoader] sample 17: cannot read \"17.png\": truncated", [&] { stream.next(); });
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_of_several_failures_is_reported) {
  const DataLoader loader(made_of(100,
                                  [](std::int64_t index) {
                                    if (index >= 50) throw ValueError("no");
                                  }),
                          {.batch_size = 10, .workers = 3});
  detail::BatchStream stream = loader.epoch(0);
  for (int i = 0; i < 5; ++i) BOOST_TEST(stream.next().has_value());
  check_throws<ValueError>("[DataLoader] sample 50: no", [&] { stream.next(); });
}

BOOST_AUTO_TEST_CASE(the_sample_is_that_of_the_loaders_data_set) {
  const DataLoader loader(broken_at(17).subset({3, 5, 17}), {.batch_size = 2});
  detail::BatchStream stream = loader.epoch(0, 1);
  check_throws<FileError>("[DataLoader] sample 2: cannot read \"17.png\": truncated", [&] { stream.next(); });
}

BOOST_AUTO_TEST_CASE(types_of_mezzo_are_kept_and_others_become_errors) {
  const auto load = [](auto exception) {
    return [exception] {
      const DataLoader loader(made_of(1, [exception](std::int64_t) { throw exception; }));
      loader.epoch(0).next();
    };
  };
  check_throws<ShapeError>("[DataLoader] sample 0: s", load(ShapeError("s")));
  check_throws<DTypeError>("[DataLoader] sample 0: d", load(DTypeError("d")));
  check_throws<NameError>("[DataLoader] sample 0: n", load(NameError("n")));
  check_throws<Error>("[DataLoader] sample 0: e", load(Error("e")));
  check_throws<Error>("[DataLoader] sample 0: o", load(std::out_of_range("o")));
  check_throws<Error>("[DataLoader] sample 0: an exception of a type other than std::exception", load(42));
}

BOOST_AUTO_TEST_CASE(the_original_is_nested) {
  const DataLoader loader(made_of(1, [](std::int64_t) { throw std::out_of_range("original"); }));
  try {
    loader.epoch(0).next();
    BOOST_ERROR("nothing was thrown");
  } catch (const Error& e) {
    BOOST_CHECK_THROW(std::rethrow_if_nested(e), std::out_of_range);
  }
}

BOOST_AUTO_TEST_CASE(a_failing_epoch_leaves_the_loader_usable) {
  auto broken = std::make_shared<std::atomic<bool>>(true);
  const DataLoader loader(made_of(20,
                                  [broken](std::int64_t index) {
                                    if (*broken && index == 7) throw ValueError("no");
                                  }),
                          {.batch_size = 5, .workers = 2});
  detail::BatchStream stream = loader.epoch(0);
  BOOST_TEST(stream.next().has_value());
  BOOST_CHECK_THROW(stream.next(), ValueError);
  *broken = false;
  BOOST_CHECK_THROW(stream.next(), ValueError);
  stream = loader.epoch(0, 1);
  int batches = 0;
  while (stream.next()) ++batches;
  BOOST_TEST(batches == 3);
}

BOOST_AUTO_TEST_CASE(destruction_stops_workers_at_any_point) {
  for (int round = 0; round < 50; ++round) {
    const DataLoader loader(made_of(1000, [](std::int64_t) { std::this_thread::yield(); }),
                            {.batch_size = 3, .workers = 3, .prefetch = 2});
    detail::BatchStream stream = loader.epoch(0);
    for (int i = 0; i < round % 7; ++i) stream.next();
  }
}

BOOST_AUTO_TEST_CASE(workers_run_no_further_ahead_than_prefetch) {
  std::atomic<int> loaded{0};
  const DataLoader loader(made_of(1000, [&](std::int64_t) { ++loaded; }),
                          {.batch_size = 1, .workers = 2, .prefetch = 3});
  {
    detail::BatchStream stream = loader.epoch(0);
    for (int i = 0; i < 10; ++i) stream.next();
    while (loaded < 16) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  BOOST_TEST(loaded == 16);
}

BOOST_AUTO_TEST_CASE(a_stream_moves_and_outlives_its_loader) {
  std::optional<DataLoader> loader{std::in_place, broken_at(-1), DataLoaderOptions{.batch_size = 10, .workers = 2}};
  detail::BatchStream first = loader->epoch(0);
  loader.reset();
  detail::BatchStream stream = std::move(first);
  int batches = 0;
  while (stream.next()) ++batches;
  BOOST_TEST(batches == 10);
}

BOOST_AUTO_TEST_CASE(a_batch_larger_than_the_memory_is_an_error_with_its_size) {
  if (!mezzo_tests::reports_missing_memory()) return mezzo_tests::skip("needs the system's allocator");
  const Dataset data = Dataset::from_function(
      {.size = 100,
       .fields = {{.name = "x", .shape = {std::int64_t{1} << 44}}},
       .function = [](std::int64_t) -> std::vector<Tensor> { throw ValueError("must not be called"); }});
  for (const int workers : {0, 2}) {
    detail::BatchStream stream = DataLoader(data, {.batch_size = 4, .workers = workers}).epoch(0);
    check_throws<MemoryError>(
        "[DataLoader] field \"x\" of 4 samples: [Tensor] float32 (4, 17592186044416) needs "
        "281474976710656 bytes (262144.0 GiB); the system has not that much memory",
        [&] { stream.next(); });
  }
}

BOOST_AUTO_TEST_CASE(a_sample_larger_than_the_memory_keeps_its_type) {
  for (const int workers : {0, 1}) {
    const DataLoader known(made_of(4, [](std::int64_t) { throw MemoryError("[Tensor] too large"); }),
                           {.workers = workers});
    detail::BatchStream stream = known.epoch(0);
    check_throws<MemoryError>("[DataLoader] sample 0: [Tensor] too large", [&] { stream.next(); });
    const DataLoader unknown(made_of(4, [](std::int64_t) { throw std::bad_alloc(); }), {.workers = workers});
    detail::BatchStream other = unknown.epoch(0);
    check_throws<MemoryError>("[DataLoader] sample 0: the system has not enough memory", [&] { other.next(); });
  }
}

BOOST_AUTO_TEST_SUITE_END()
