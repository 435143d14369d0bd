// Ops that are others but for the rule by which op lists take their operands.
#include <boost/test/unit_test.hpp>

#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/op_lists.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(in_place)

BOOST_AUTO_TEST_CASE(they_compute_what_the_others_do) {
  const Tensor a = random_tensor({3, 4}, DType::float32, 1), b = random_tensor({4}, DType::float32, 2, 1, 2);
  const auto after = [&](Value& (*op)(Value&, const Value&)) {
    Value x = a;
    BOOST_TEST(&op(x, b) == &x);
    return x.tensor();
  };
  BOOST_TEST(after(operator+=).equal((Value(a) + b).tensor()));
  BOOST_TEST(after(operator-=).equal((Value(a) - b).tensor()));
  BOOST_TEST(after(operator*=).equal((Value(a) * b).tensor()));
  BOOST_TEST(after(operator/=).equal((Value(a) / b).tensor()));
  BOOST_TEST(bias_add(a, b).tensor().equal((Value(a) + b).tensor()));
}

BOOST_AUTO_TEST_CASE(their_nodes_are_those_of_the_others) {
  Trace trace(Trace::Mode::graph);
  Value x = trace.input("x", Spec{{2, 3}, DType::float32});
  x += 1;
  x -= 2;
  x *= 3;
  x /= bias_add(x, x);
  std::string ops;
  for (const detail::NodePtr& node : trace.graph().nodes) ops += node->op->name + " ";
  BOOST_TEST(ops == "input constant add constant subtract constant multiply add divide ");
}

BOOST_AUTO_TEST_CASE(outside_of_op_lists_they_promote) {
  Value x = Tensor({2}, DType::bfloat16);
  x += Tensor({2}, DType::float32);
  BOOST_TEST(dtype_name(x.dtype()) == "float32");
}

// HMP: in-place ops cast all inputs to the first one's dtype; others of several inputs to the widest.
BOOST_AUTO_TEST_CASE(under_op_lists_the_first_operand_decides) {
  const detail::PolicyScope trainer{OpLists()};
  const Tensor narrow({2}, DType::bfloat16), wide({2}, DType::float32);
  for (Value& (*op)(Value&, const Value&) : {&operator+=, &operator-=, &operator*=, &operator/=}) {
    Value x = narrow;
    BOOST_TEST(dtype_name(op(x, wide).dtype()) == "bfloat16");
    Value y = wide;
    BOOST_TEST(dtype_name(op(y, narrow).dtype()) == "float32");
  }
  BOOST_TEST(dtype_name(bias_add(narrow, wide).dtype()) == "bfloat16");
  BOOST_TEST(dtype_name((Value(narrow) + wide).dtype()) == "float32");
}

BOOST_AUTO_TEST_CASE(shapes_that_dont_broadcast_are_refused) {
  Value x = Tensor({3, 2});
  check_throws<ShapeError>("[iadd] shapes must be equal or 1 on axis -1; got (3, 2) and (3,)",
                           [&] { x += Tensor({3}); });
}

BOOST_AUTO_TEST_SUITE_END()
