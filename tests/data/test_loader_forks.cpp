#include <boost/test/unit_test.hpp>

#include <mezzo/data/loader.hpp>

#include "support/child.hpp"

using namespace mezzo;
using mezzo_tests::in_child;

namespace {

DataLoader numbers(int workers) {
  return DataLoader(Dataset::from_function({.size = 40,
                                            .fields = {{.name = "x", .dtype = DType::int64}},
                                            .function =
                                                [](std::int64_t index) {
                                                  const auto number = static_cast<double>(index);
                                                  return std::vector<Tensor>{Tensor::scalar(number, DType::int64)};
                                                }}),
                    {.batch_size = 4, .workers = workers});
}

/// True if the stream has the batches from `first` to the last.
bool has_batches_from(BatchStream& stream, std::int64_t first) {
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
      BatchStream stream = loader.epoch(0);
      for (int i = 0; i < 3; ++i) stream.next();
      BOOST_TEST(in_child([&] {
        if (!has_batches_from(stream, 3)) return false;
        BatchStream other = loader.epoch(1);
        return has_batches_from(other, 0);
      }));
      BOOST_TEST(has_batches_from(stream, 3));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_child_drops_a_stream_of_its_parent) {
  std::optional<BatchStream> stream(numbers(2).epoch(0));
  BOOST_TEST(in_child([&] {
    stream.reset();
    return true;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
