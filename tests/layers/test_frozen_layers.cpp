// Every layer of the catalogue as a frozen graph.
#include <boost/test/unit_test.hpp>

#include <mezzo/core/registered_names.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/training/model/model_config.hpp>

#include "support/frozen.hpp"
#include "support/layer_models.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_layers(const char* policy, double tolerance) {
  for (const std::string& name : layers_of_library()) {
    Model model = model_of_layer(name, detail::read_layer(json_of_layer(name)));
    set_positive_weights(model);
    Shape shape = sample_of(name);
    shape.insert(shape.begin(), 2);
    const DType dtype = takes_integers(name) ? DType::int32 : DType::float32;
    BOOST_TEST_CONTEXT(name << " " << policy) {
      check_frozen_module(model, {random_tensor(shape, dtype, 2, 0, 6)}, tolerance);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frozen_layers)

BOOST_AUTO_TEST_CASE(every_layer_of_the_catalogue) { check_layers("float32", 1e-5); }

BOOST_AUTO_TEST_CASE(every_layer_in_bfloat16) {
  const Policy before = dtype_policy();
  set_dtype_policy(Policy("mixed_bfloat16"));
  check_layers("mixed_bfloat16", 0x1p-6);
  set_dtype_policy(before);
}

BOOST_AUTO_TEST_SUITE_END()
