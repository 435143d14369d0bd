#include <boost/test/unit_test.hpp>

#include <type_traits>

#include <xtensor/xview.hpp>

#include <mezzo/xtensor.hpp>

#include "support/throws.hpp"

using mezzo::Tensor;
using mezzo_tests::check_throws;

namespace {

std::string describe(const Tensor& tensor) { return tensor.describe(); }

template <class T>
void check_round_trip(const std::string& dtype) {
  const xt::xarray<T> array = {{T(0), T(1), T(2)}, {T(3), T(4), T(5)}};
  const Tensor tensor = array;
  BOOST_TEST(tensor.describe() == dtype + " (2, 3)");
  const xt::xarray<T> back = tensor;
  BOOST_TEST((back == array));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xtensor)

BOOST_AUTO_TEST_CASE(arrays_of_every_element_type_make_the_round_trip) {
  check_round_trip<float>("float32");
  check_round_trip<double>("float64");
  check_round_trip<std::int8_t>("int8");
  check_round_trip<std::int16_t>("int16");
  check_round_trip<std::int32_t>("int32");
  check_round_trip<std::int64_t>("int64");
  check_round_trip<std::uint8_t>("uint8");
  check_round_trip<bool>("bool");
}

BOOST_AUTO_TEST_CASE(elements_come_out_row_major) {
  const xt::xarray<double, xt::layout_type::column_major> columns = {{1, 2, 3}, {4, 5, 6}};
  BOOST_TEST(Tensor(columns).to_doubles() == (std::vector<double>{1, 2, 3, 4, 5, 6}), boost::test_tools::per_element());
  const xt::xarray<double, xt::layout_type::column_major> back = Tensor(columns);
  BOOST_TEST((back == columns));
}

BOOST_AUTO_TEST_CASE(expressions_and_fixed_ranks_convert) {
  const xt::xarray<float> array = {{1, 2, 3}, {4, 5, 6}};
  BOOST_TEST(Tensor(array + 1.0F).to_doubles()[5] == 7);
  BOOST_TEST(describe(array > 2.0F) == "bool (2, 3)");
  BOOST_TEST(describe(xt::view(array, xt::all(), xt::range(0, 2))) == "float32 (2, 2)");
  BOOST_TEST(Tensor(xt::transpose(array)).to_doubles() == (std::vector<double>{1, 4, 2, 5, 3, 6}),
             boost::test_tools::per_element());
  const xt::xtensor<int, 1> labels = {3, 1, 2};
  BOOST_TEST(describe(labels) == "int32 (3,)");
  const xt::xtensor<int, 1> back = Tensor(labels);
  BOOST_TEST((back == labels));
  const xt::xarray<float> scalar = 3.0F;
  BOOST_TEST(describe(scalar) == "float32 ()");
  const xt::xarray<float> empty = Tensor({0, 3});
  BOOST_TEST(empty.shape()[1] == 3U);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Tensor tensor({2, 3});
  check_throws<mezzo::DTypeError>("[Tensor] the elements must be accessed as float32; got an access as float64",
                                  [&] { const xt::xarray<double> wrong = tensor; });
  check_throws<mezzo::ShapeError>("[Tensor] an xt::xtensor of rank 1 can't hold float32 (2, 3)",
                                  [&] { const xt::xtensor<float, 1> wrong = tensor; });
  static_assert(!std::is_convertible_v<xt::xarray<unsigned long>, Tensor>);
  static_assert(!std::is_convertible_v<int, Tensor>);
}

BOOST_AUTO_TEST_SUITE_END()
