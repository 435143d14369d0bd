#include <boost/test/unit_test.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  Shape x, window, strides, padding;
  Attributes attributes(bool count_padding) const {
    return {{"window", window}, {"strides", strides}, {"padding", padding}, {"count_padding", count_padding}};
  }
};

/// Windows that tile, overlap, leave gaps or extend past the border.
std::vector<Case> cases(std::int64_t channels) {
  return {{{2, 6, 8, channels}, {2, 2}, {2, 2}, {0, 0, 0, 0}}, {{2, 7, 9, channels}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
          {{1, 9, 7, channels}, {2, 1}, {3, 2}, {0, 0, 0, 0}}, {{1, 5, 6, channels}, {3, 2}, {1, 1}, {0, 2, 1, 0}},
          {{3, 4, 4, channels}, {4, 4}, {4, 4}, {0, 0, 0, 0}}, {{1, 3, 3, channels}, {2, 2}, {2, 2}, {1, 1, 1, 1}}};
}

/// Calls body(case, count_padding, dtype) for all combinations.
template <class Body>
void for_each_case(const Body& body) {
  for (const std::int64_t channels : {1, 3, 8, 16, 17, 40}) {
    for (const Case& c : cases(channels)) {
      for (const bool count_padding : {false, true}) {
        for (const DType dtype : xsimd_dtypes) body(c, count_padding, dtype);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_avg_pool2d)

BOOST_AUTO_TEST_CASE(values) {
  for_each_case([](const Case& c, bool count_padding, DType dtype) {
    check_xsimd("avg_pool2d", c.attributes(count_padding), {random_tensor(c.x, dtype)}, 1e-6);
  });
}

BOOST_AUTO_TEST_CASE(gradient) {
  for_each_case([](const Case& c, bool count_padding, DType dtype) {
    const Attributes attributes = c.attributes(count_padding);
    const Shape pooled = kernel_request("avg_pool2d", attributes, {Spec{c.x, dtype}}).outputs[0].shape;
    check_xsimd("avg_pool2d_gradient", with_attribute(attributes, "shape", c.x), {random_tensor(pooled, dtype)}, 2e-6);
  });
}

BOOST_AUTO_TEST_CASE(shared_by_threads) {
  const Case c{{4, 40, 40, 33}, {3, 3}, {2, 2}, {1, 1, 1, 1}};
  check_xsimd("avg_pool2d", c.attributes(false), {random_tensor(c.x)}, 1e-6);
  check_xsimd("avg_pool2d_gradient", with_attribute(c.attributes(true), "shape", c.x), {random_tensor({4, 20, 20, 33})},
              2e-6);
}

BOOST_AUTO_TEST_SUITE_END()
