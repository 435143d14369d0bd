#include <boost/test/unit_test.hpp>

#include <mezzo/graph/variable_state.hpp>

#include "support/runs.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(variable_state)

BOOST_AUTO_TEST_CASE(the_first_value_decides_shape_and_dtype) {
  detail::VariableState variable("w");
  BOOST_TEST(!variable.filled);
  variable.assign(Tensor({2}, DType::bfloat16));
  BOOST_TEST(variable.filled);
  variable.assign(Tensor({2}, std::vector<double>{1.5, 1 + 0x1p-20}));
  BOOST_TEST((variable.value.dtype() == DType::bfloat16));
  BOOST_TEST(variable.value.to_doubles() == (std::vector<double>{1.5, 1}), boost::test_tools::per_element());
  check_throws<ShapeError>("[Variable \"w\"] assign: shape must be (2,); got (3,)",
                           [&] { variable.assign(Tensor({3})); });
}

BOOST_AUTO_TEST_CASE(writes_are_counted) {
  detail::VariableState variable("w");
  variable.assign(Tensor({2}));
  const std::uint64_t before = variable.version;
  variable.assign(Tensor({2}));
  BOOST_TEST(variable.version == before + 1);
  BOOST_CHECK_THROW(variable.assign(Tensor({3})), ShapeError);
  BOOST_TEST(variable.version == before + 1);
  variable.convert(DType::float32);
  BOOST_TEST(variable.version == before + 1);
  variable.convert(DType::float64);
  BOOST_TEST(variable.version == before + 2);
}

BOOST_AUTO_TEST_CASE(assigned_arrays_are_not_aliased) {
  Tensor array({2});
  detail::VariableState variable("w");
  variable.assign(array);
  array.mutable_data<float>()[0] = 1;
  BOOST_TEST(variable.value.data<float>()[0] == 0);
}

BOOST_AUTO_TEST_CASE(a_split_master_is_float32_to_its_readers) {
  const auto variable = make_variable("w", random_tensor({300}));
  const Tensor before = variable->value;
  variable->split();
  BOOST_TEST((variable->dtype() == DType::float32));
  BOOST_TEST((variable->value.dtype() == DType::bfloat16));
  BOOST_TEST((variable->remainder->value.dtype() == DType::int16));
  BOOST_TEST(variable->numbers().equal(before));
  detail::VariableState other("other");
  other.copy_from(*variable);
  const Tensor numbers = random_tensor({300}, DType::float64, 2);
  variable->assign(numbers);
  BOOST_TEST(variable->numbers().equal(numbers.cast(DType::float32)));
  BOOST_TEST(other.numbers().equal(before));
  variable->join();
  BOOST_TEST(variable->remainder == nullptr);
  BOOST_TEST(variable->value.equal(numbers.cast(DType::float32)));
  variable->split();
  variable->convert(DType::float16);
  BOOST_TEST(variable->remainder == nullptr);
  BOOST_TEST(variable->value.equal(numbers.cast(DType::float32).cast(DType::float16)));
  check_throws<DTypeError>("[Variable \"w\"] must be float32 to be split; got float16", [&] { variable->split(); });
}

BOOST_AUTO_TEST_CASE(a_deep_copy_shares_nothing) {
  const auto variable = make_variable("w", random_tensor({3}));
  variable->trainable = false;
  detail::VariableState other("other");
  other.copy_from(*variable);
  BOOST_TEST(other.name == "w");
  BOOST_TEST(!other.trainable);
  BOOST_TEST(other.value.equal(variable->value));
  BOOST_TEST(!other.value.shared());
}

BOOST_AUTO_TEST_SUITE_END()
