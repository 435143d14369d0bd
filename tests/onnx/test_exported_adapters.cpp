// Exports of models with adapters: as products of their own, or merged.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>
#include <mezzo/onnx.hpp>

#include "support/folder.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(exported_adapters)

BOOST_AUTO_TEST_CASE(exports_compute_with_the_active_adapters) {
  const Folder folder;
  const std::string path = folder.path("a.onnx");
  Sequential model({Input({4}), Dense(6, {.name = "low"}), Dense(2)});
  const Tensor inputs = random::normal({3, 4}, {.seed = 5}).tensor();
  const Tensor base = model.predict(inputs);
  model.enable_lora({.targets = "low", .rank = 2, .dropout = 0.5, .b_initializer = "ones"});
  const Tensor expected = model.predict(inputs);
  BOOST_TEST(largest_difference(expected, base) > 1e-3);
  export_onnx(model, path);
  BOOST_TEST(largest_difference(load_onnx(path)->predict(inputs), expected) < 1e-5);
  merge_adapter(model);
  export_onnx(model, path);
  BOOST_TEST(largest_difference(load_onnx(path)->predict(inputs), expected) < 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
