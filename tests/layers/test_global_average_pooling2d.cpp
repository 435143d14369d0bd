#include <mezzo/layers/pooling/global_average_pooling2d.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(global_average_pooling2d)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("global_average_pooling", [] { return GlobalAveragePooling2D(); });
  check_recorded("global_average_pooling_keepdims", [] { return GlobalAveragePooling2D({.keepdims = true}); });
}

// In bfloat16 a running sum of ones would stop at 256.
BOOST_AUTO_TEST_CASE(low_precision_inputs_are_summed_in_float32) {
  const Tensor ones({1, 32, 32, 3}, std::vector<float>(3072, 1.0F));
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    const Value y = GlobalAveragePooling2D({.dtype = policy})(Value(ones));
    BOOST_TEST((y.dtype() == Policy(policy).compute_dtype()));
    BOOST_TEST(y.tensor().to_doubles() == std::vector<double>(3, 1));
  }
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  GlobalAveragePooling2D layer({.name = "pool"});
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({2, 5, 3})));
             }) ==
             "[GlobalAveragePooling2D \"pool\"] input must have rank 4 (batch, height, width, channels); got "
             "shape (2, 5, 3): add a batch axis if this is one sample");
}

BOOST_AUTO_TEST_SUITE_END()
