#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Gradient gradient(const std::string& name, std::vector<float> numbers) {
  const Shape shape{static_cast<std::int64_t>(numbers.size())};
  Variable variable(name);
  variable.assign(Tensor(shape));
  return {name, variable, Value(Tensor(shape, numbers))};
}

Gradients three_and_four() { return {gradient("a", {3, 0}), {"unused", Variable("unused"), {}}, gradient("b", {-4})}; }

std::vector<double> numbers(const Gradient& of) { return of.value.tensor().to_doubles(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(clip_gradients)

BOOST_AUTO_TEST_CASE(the_global_norm_is_that_of_all_gradients) {
  BOOST_TEST(global_norm(three_and_four()).item() == 5);
  BOOST_TEST((global_norm(three_and_four()).dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(gradients_are_scaled_down_to_the_norm) {
  const auto [clipped, norm] = clip_by_global_norm(three_and_four(), 2.5);
  BOOST_TEST(norm.item() == 5);
  BOOST_TEST(numbers(clipped[0]) == (std::vector<double>{1.5, 0}));
  BOOST_TEST(!clipped[1].value.defined());
  BOOST_TEST(numbers(clipped[2]) == (std::vector<double>{-2}));
  BOOST_TEST(numbers(clip_by_global_norm(three_and_four(), 6).gradients[2]) == (std::vector<double>{-4}));
  Gradients infinite = three_and_four();
  infinite[0] = gradient("a", {std::numeric_limits<float>::infinity(), 0});
  BOOST_TEST(std::isnan(numbers(clip_by_global_norm(infinite, 1).gradients[2])[0]));
}

BOOST_AUTO_TEST_CASE(torchs_factor_has_a_margin) {
  Gradients gradients = three_and_four();
  BOOST_TEST(clip_grad_norm(gradients, 2.5).item() == 5);
  BOOST_TEST(numbers(gradients[2])[0] == -4 * 2.5 / (5 + 1e-6), boost::test_tools::tolerance(1e-7));
  gradients = three_and_four();
  clip_grad_norm(gradients, 5.1);
  BOOST_TEST(numbers(gradients[2])[0] == -4);
}

BOOST_AUTO_TEST_CASE(elements_are_limited) {
  const Gradients clipped = clip_by_value(three_and_four(), -1, 2);
  BOOST_TEST(numbers(clipped[0]) == (std::vector<double>{2, 0}));
  BOOST_TEST(numbers(clipped[2]) == (std::vector<double>{-1}));
}

BOOST_AUTO_TEST_CASE(gradients_of_several_losses_are_added) {
  Gradients sum;
  add_gradients(sum, three_and_four(), 0.5);
  BOOST_TEST(numbers(sum[0]) == (std::vector<double>{1.5, 0}));
  Gradients more = sum;
  more[1].value = Value(Tensor({1}, std::vector<float>{7}));
  add_gradients(sum, more, 2);
  BOOST_TEST(numbers(sum[0]) == (std::vector<double>{4.5, 0}));
  BOOST_TEST(numbers(sum[1]) == (std::vector<double>{14}));
  BOOST_TEST(numbers(sum[2]) == (std::vector<double>{-6}));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  Gradients gradients = three_and_four();
  BOOST_TEST(refused<ValueError>([&] { clip_by_global_norm(gradients, 0); }) ==
             "[clip_by_global_norm] clip_norm must be greater than 0 and finite; got 0");
  BOOST_TEST(refused<ValueError>([&] { clip_grad_norm(gradients, -1); }) ==
             "[clip_grad_norm] max_norm must be at least 0; got -1");
  BOOST_TEST(refused<ValueError>([&] { clip_by_value(gradients, 1, 0); }) ==
             "[clip_by_value] low must be at most high; got 1 and 0");
  BOOST_TEST(refused<ValueError>([&] { add_gradients(gradients, {gradients[0]}); }) ==
             "[add_gradients] both lists must have the same weights; got 3 and 1");
  BOOST_TEST(refused<ValueError>([&] {
               add_gradients(gradients, {gradients[2], gradients[1], gradients[0]});
             }) == "[add_gradients] both lists must have the same weights; got \"a\" and \"b\" at 0");
}

BOOST_AUTO_TEST_SUITE_END()
