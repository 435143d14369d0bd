#include <boost/test/unit_test.hpp>

#include <mezzo/compiler/work.hpp>
#include <mezzo/graph/op_registry.hpp>

using namespace mezzo;

namespace {

double operations_of(const char* op, const Shape& a, const Shape& b, const Shape& out, Attributes attributes = {}) {
  const auto spec = [](const Shape& shape) { return Spec{shape, DType::float32}; };
  return operations({&find_op(op), std::move(attributes), {spec(a), spec(b)}, {spec(out)}, "[test]"});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(work)

BOOST_AUTO_TEST_CASE(products) {
  constexpr double expected = 2.0 * 3 * 5 * 7;
  BOOST_TEST(operations_of("matmul", {3, 5}, {5, 7}, {3, 7}) == expected);
  BOOST_TEST(operations_of("matmul", {5, 3}, {5, 7}, {3, 7}, {{"transpose_a", true}}) == expected);
  BOOST_TEST(operations_of("matmul", {3, 5}, {7, 5}, {3, 7}, {{"transpose_b", true}}) == expected);
  BOOST_TEST(operations_of("matmul", {2, 3, 5}, {2, 5, 7}, {2, 3, 7}) == 2 * expected);
}

BOOST_AUTO_TEST_CASE(convolutions_and_their_gradients_are_the_same_work) {
  const Shape x{2, 8, 8, 4}, kernel{3, 3, 4, 6}, y{2, 6, 6, 6};
  constexpr double expected = 2.0 * (2 * 6 * 6 * 6) * (3 * 3 * 4);
  BOOST_TEST(operations_of("conv2d", x, kernel, y) == expected);
  BOOST_TEST(operations_of("conv2d_input_gradient", y, kernel, x) == expected);
  BOOST_TEST(operations_of("conv2d_kernel_gradient", x, y, kernel) == expected);
}

BOOST_AUTO_TEST_CASE(a_kernel_of_groups_has_fewer_input_channels) {
  BOOST_TEST(operations_of("conv2d", {2, 8, 8, 4}, {3, 3, 2, 6}, {2, 6, 6, 6}) == 2.0 * (2 * 6 * 6 * 6) * (3 * 3 * 2));
}

BOOST_AUTO_TEST_CASE(recurrences_multiply_with_the_kernel_in_each_step) {
  const auto spec = [](const Shape& shape) { return Spec{shape, DType::float32}; };
  const Spec kernel = spec({3, 12}), states = spec({2, 7, 3}), gates = spec({2, 7, 12});
  const Attributes attributes{{"kind", "lstm"},    {"activation", "tanh"}, {"recurrent_activation", "sigmoid"},
                              {"initial", false},  {"biased", false},      {"dropped", false},
                              {"masked", false},   {"of_states", true},    {"of_last", false},
                              {"of_carry", false}, {"before", false}};
  constexpr double expected = 2.0 * 2 * 7 * 3 * 12;
  BOOST_TEST(operations({&find_op("recurrence"), attributes, {gates, kernel}, {states}, "[test]"}) == expected);
  BOOST_TEST(
      operations(
          {&find_op("recurrence_gradient"), attributes, {states, kernel, states, gates, states}, {gates}, "[test]"}) ==
      expected);
  const Spec x = spec({2, 7, 5});
  BOOST_TEST(operations({&find_op("recurrent_kernel_gradient"),
                         {{"initial", false}, {"projected", true}},
                         {states, gates, x},
                         {kernel, spec({5, 12})},
                         "[test]"}) == expected / 3 * (3 + 5));
}

BOOST_AUTO_TEST_CASE(small_requests_are_not_worth_a_second_thread) {
  const auto is_small = [](std::int64_t rows, std::int64_t size) {
    const Spec a{{rows, size}, DType::float32}, b{{size, size}, DType::float32};
    return mezzo::is_small({&find_op("matmul"), {}, {a, b}, {a}, "[test]"});
  };
  BOOST_TEST(is_small(1, 1));
  BOOST_TEST(is_small(32, 32));    // 65 thousand operations, 12 KiB
  BOOST_TEST(!is_small(128, 32));  // 262 thousand operations
  BOOST_TEST(!is_small(1, 256));   // 256 KiB
  BOOST_TEST(!is_small(128, 512));
}

BOOST_AUTO_TEST_CASE(other_ops_are_not_counted) { BOOST_TEST(operations_of("add", {3}, {3}, {3}) == 0); }

BOOST_AUTO_TEST_SUITE_END()
