#include <boost/test/unit_test.hpp>

#include "small.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Sums a square of `size` by `size` copies of its input.
class Square : public Module {
 public:
  std::int64_t size = 2;
  Value predict_step(const Batch& batch) override { return sum(exp(broadcast_to(batch["x"], {size, size}))); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(a_step_larger_than_the_memory_is_an_error_with_its_size) {
  Square module;
  module.size = std::int64_t{1} << 23;
  const DataLoader loader(Dataset::from_tensors({{"x", column({0})}}));
  try {
    Trainer().predict(module, loader);
    BOOST_ERROR("nothing was thrown");
  } catch (const MemoryError& error) {
    const std::string text = error.what(), begin = "[Plan] the arena of a step needs ";
    BOOST_TEST(text.substr(0, begin.size()) == begin);
    BOOST_TEST(std::stod(text.substr(begin.size())) >= 4.0 * (std::int64_t{1} << 46));
  }
}

BOOST_AUTO_TEST_SUITE_END()
