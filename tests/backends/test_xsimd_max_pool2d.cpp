#include <boost/test/unit_test.hpp>

#include <limits>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  Shape x, window, strides, padding;
  Attributes attributes() const { return {{"window", window}, {"strides", strides}, {"padding", padding}}; }
};

/// Windows that tile, overlap, leave gaps or extend past the border.
std::vector<Case> cases(std::int64_t channels) {
  return {{{2, 6, 8, channels}, {2, 2}, {2, 2}, {0, 0, 0, 0}},    {{2, 7, 9, channels}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
          {{1, 9, 7, channels}, {2, 1}, {3, 2}, {0, 0, 0, 0}},    {{1, 5, 6, channels}, {3, 2}, {1, 1}, {0, 2, 1, 0}},
          {{3, 4, 4, channels}, {4, 4}, {4, 4}, {0, 0, 0, 0}},    {{1, 3, 3, channels}, {2, 2}, {2, 2}, {1, 1, 1, 1}},
          {{1, 17, 18, channels}, {16, 16}, {1, 2}, {0, 0, 0, 0}}};
}

const std::vector<std::int64_t> channel_counts{1, 3, 7, 8, 16, 17, 40};

Tensor places_of(const Case& c, const Tensor& x) {
  return widened_reference("max_pool2d", c.attributes(), {x}, kernel_request("max_pool2d", c.attributes(), {x}).outputs)
      .at(1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_max_pool2d)

BOOST_AUTO_TEST_CASE(values_and_places) {
  for (const std::int64_t channels : channel_counts) {
    for (const Case& c : cases(channels)) {
      for (const DType dtype : xsimd_dtypes) {
        check_xsimd("max_pool2d", c.attributes(), {small_integers(c.x, dtype)}, 0);  // many equal numbers
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity) {
  for (const Case& c : cases(5)) {
    Tensor x = random_tensor(c.x);
    float* data = x.mutable_data<float>();
    for (std::int64_t i = 0; i < x.size(); i += 3) data[i] = std::numeric_limits<float>::quiet_NaN();
    for (std::int64_t i = 1; i < x.size(); i += 3) data[i] = -std::numeric_limits<float>::infinity();
    check_xsimd("max_pool2d", c.attributes(), {x}, 0);
  }
}

BOOST_AUTO_TEST_CASE(gradient) {
  for (const std::int64_t channels : channel_counts) {
    for (const Case& c : cases(channels)) {
      for (const DType dtype : xsimd_dtypes) {
        const Tensor places = places_of(c, random_tensor(c.x, dtype));
        const Tensor g = small_integers(places.shape(), dtype, 2);
        check_xsimd("max_pool2d_gradient", with_attribute(c.attributes(), "shape", c.x), {g, places}, 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradient_adds_up_in_float) {  // 256 windows have their maximum at one place
  const Case c{{1, 300, 1, 1}, {256, 1}, {1, 1}, {128, 128, 0, 0}};
  Tensor x(c.x, DType::bfloat16);
  x.mutable_data<bfloat16>()[150] = bfloat16(1.0F);
  const Tensor places = places_of(c, x);
  const Tensor g = random_tensor(places.shape(), DType::bfloat16, 1, 1, 2);
  check_xsimd("max_pool2d_gradient", with_attribute(c.attributes(), "shape", c.x), {g, places}, 1e-6);
}

BOOST_AUTO_TEST_CASE(large_windows_are_declined) {
  std::string reason;
  const Case c{{1, 300, 1, 1}, {257, 1}, {1, 1}, {0, 0, 0, 0}};
  const KernelRequest request = kernel_request("max_pool2d", c.attributes(), std::vector<Spec>{{c.x, DType::float32}});
  BOOST_TEST(!xsimd_kernel(request, Isa::sse2, reason));
  BOOST_TEST(reason == "takes windows of at most 256 places; got (257, 1)");
}

BOOST_AUTO_TEST_SUITE_END()
