#include <boost/test/unit_test.hpp>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Attributes gradient_of{{"shape", Shape{300, 70}}, {"dtype", DType::float32}};

Tensor some_rows() { return random_tensor({900}, DType::int32, 5, 0, 299); }

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_gather)

BOOST_AUTO_TEST_CASE(gathers_every_dtype) {
  const Tensor indices({3}, std::vector<std::int32_t>{2, 0, 2});
  for (const DType dtype : all_dtypes) {
    const Tensor table = random_tensor({3, 5}, dtype, 4, 0, 90);
    const Tensor rows = run_reference("gather", {}, {table, indices}).front();
    BOOST_TEST((rows.dtype() == dtype));
    BOOST_TEST(rows.slice(0, 1).equal(table.slice(2, 3)), dtype_name(dtype));
    BOOST_TEST(rows.slice(1, 2).equal(table.slice(0, 1)), dtype_name(dtype));
    BOOST_TEST(rows.slice(2, 3).equal(table.slice(2, 3)), dtype_name(dtype));
  }
}

BOOST_AUTO_TEST_CASE(threads_change_no_bit) {
  const Tensor g = random_tensor({900, 70});
  BOOST_TEST(same_on_any_threads("reference", "gather", {}, {random_tensor({300, 70}), some_rows()}));
  for (const char* op : {"gather_gradient", "gather_gradient_rows"}) {
    BOOST_TEST(same_on_any_threads("reference", op, gradient_of, {some_rows(), g}), op);
  }
}

BOOST_AUTO_TEST_CASE(the_rows_are_those_of_the_dense_gradient) {
  const Tensor indices = some_rows(), g = random_tensor({900, 70});
  const Tensor dense = run_reference("gather_gradient", gradient_of, {indices, g}).front();
  const auto compact = run_reference("gather_gradient_rows", gradient_of, {indices, g});
  std::int64_t absent = 0, last = -1;
  for (std::int64_t row = 0; row < 300; ++row) {
    const std::int64_t place = compact[1].data<std::int32_t>()[row];
    const Tensor zeros({1, 70});
    BOOST_TEST(dense.slice(row, row + 1).equal(place < 0 ? zeros : compact[0].slice(place, place + 1)));
    absent += place < 0 ? 1 : 0;
    last = std::max(last, place);
  }
  BOOST_TEST(absent > 0);
  BOOST_TEST(last == 300 - absent - 1);
  BOOST_TEST(compact[0].slice(last + 1, 900).equal(Tensor({900 - last - 1, 70})));
}

BOOST_AUTO_TEST_CASE(a_dense_gradient_is_added_to_with_the_same_bits) {
  const Tensor indices = some_rows(), g = random_tensor({900, 70}), x = random_tensor({300, 70});
  const Tensor dense = run_reference("gather_gradient", gradient_of, {indices, g}).front();
  const Tensor sum = run_reference("add_gather_gradient", {}, {x, indices, g}).front();
  BOOST_TEST(sum.equal(run_reference("add", {}, {x, dense}).front()));
  BOOST_TEST(same_on_any_threads("reference", "add_gather_gradient", {}, {x, indices, g}));
}

BOOST_AUTO_TEST_CASE(sums_of_half_precision_are_accumulated_in_float32) {
  const Attributes attributes{{"shape", Shape{2, 3}}, {"dtype", DType::float32}};
  const Tensor ones = Tensor({1000, 3}, std::vector<float>(3000, 1.0F)).cast(DType::bfloat16);
  const Tensor zeros({1000}, DType::int32);
  const KernelRun run = run_kernel("widen", "gather_gradient", attributes, {zeros, ones});
  BOOST_TEST_REQUIRE(run.ran(), run.declined);
  BOOST_TEST(run.outputs[0].to_doubles() == (std::vector<double>{1000, 1000, 1000, 0, 0, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
