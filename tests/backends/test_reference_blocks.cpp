#include <boost/test/unit_test.hpp>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(reference_blocks)

BOOST_AUTO_TEST_CASE(undo_each_other_in_every_dtype) {
  for (const DType dtype : all_dtypes) {
    const Tensor x = random_tensor({3, 4, 5}, dtype, 3, 0, 90);
    BOOST_TEST_CONTEXT(dtype_name(dtype)) {
      const Tensor padded = run_reference("pad", {{"before", Shape{1, 2, 0}}, {"after", Shape{0, 1, 3}}}, {x}).front();
      BOOST_TEST((padded.shape() == Shape{4, 7, 8}));
      const Attributes back{{"starts", Shape{1, 2, 0}}, {"sizes", Shape{3, 4, 5}}};
      BOOST_TEST(run_reference("slice", back, {padded}).front().equal(x));
      const Tensor left = run_reference("slice", {{"starts", Shape{0, 0, 0}}, {"sizes", Shape{3, 1, 5}}}, {x}).front();
      const Tensor right = run_reference("slice", {{"starts", Shape{0, 1, 0}}, {"sizes", Shape{3, 3, 5}}}, {x}).front();
      BOOST_TEST(run_reference("concat", {{"axis", std::int64_t{1}}}, {left, right}).front().equal(x));
      const std::vector<Tensor> halves =
          run_reference("split", {{"axis", std::int64_t{1}}, {"sizes", Shape{1, 3}}}, {x});
      BOOST_TEST((halves[0].equal(left) && halves[1].equal(right)));
      const Tensor choice = random_tensor({3, 1, 5}, DType::boolean, 5, 0, 1);
      BOOST_TEST(run_reference("where", {}, {choice, x, x}).front().equal(x));
    }
  }
}

BOOST_AUTO_TEST_CASE(threads_share_any_shape) {
  for (const Shape& shape : {Shape{3, 70000}, Shape{70000, 3}, Shape{200001}}) {
    const Tensor x = random_tensor(shape, DType::float32);
    const Shape ones(shape.size(), 1);
    Shape inside = shape;
    for (auto& size : inside) size -= 2;
    BOOST_TEST(same_on_any_threads("reference", "pad", {{"before", ones}, {"after", ones}}, {x}));
    BOOST_TEST(same_on_any_threads("reference", "slice", {{"starts", ones}, {"sizes", inside}}, {x}));
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const Attributes along{{"axis", static_cast<std::int64_t>(axis)}};
      BOOST_TEST(same_on_any_threads("reference", "concat", along, {x, x, x}));
      const Attributes parts{{"axis", static_cast<std::int64_t>(axis)}, {"sizes", Shape{1, 0, shape[axis] - 1}}};
      BOOST_TEST(same_on_any_threads("reference", "split", parts, {x}));
      Shape starts(shape.size(), 0);
      starts[axis] = shape[axis];
      const Tensor twice = run_reference("concat", along, {x, x}).front();
      BOOST_TEST(run_reference("slice", {{"starts", starts}, {"sizes", shape}}, {twice}).front().equal(x));
    }
  }
}

BOOST_AUTO_TEST_CASE(where_selects_over_inputs) {
  const Tensor condition = random_tensor({1003}, DType::boolean, 1, 0, 1);
  const Tensor a = random_tensor({1003}, DType::bfloat16, 2), b = random_tensor({1003}, DType::bfloat16, 3);
  BOOST_TEST(count_safe_overwrites("reference", "where", {}, {condition, a, b}) == 2);
  const Tensor out = run_reference("where", {}, {condition, a, b}).front();
  for (std::int64_t i = 0; i < 1003; ++i) {
    const Tensor& from = condition.data<bool>()[i] ? a : b;
    BOOST_TEST(out.slice(i, i + 1).equal(from.slice(i, i + 1)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
