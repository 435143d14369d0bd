// The Trainer's float32_winograd, which precedes MEZZO_FLOAT32_WINOGRAD.
#include <boost/test/unit_test.hpp>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/mezzo.hpp>

#include "support/environment.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Names of the kernels of the convolutions in the model's last plan.
std::string kernels_of(Module& model, const std::optional<bool>& option) {
  const DataLoader loader(Dataset::from_tensors({{"x", random_tensor({4, 18, 18, 64})}}), {.batch_size = 4});
  Trainer({.enable_progress_bar = false, .float32_winograd = option}).predict(model, loader);
  std::string names;
  for (const detail::Plan::Row& row : model.run_state()->last_plan->rows()) {
    if (row.op == "conv2d") names += (names.empty() ? "" : " ") + row.kernel;
  }
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(winograd_option)

BOOST_AUTO_TEST_CASE(each_choice_has_its_plan) {
  Sequential model({Conv2D({.filters = 64, .kernel_size = 3})});
  model.build({4, 18, 18, 64});
  BOOST_TEST(kernels_of(model, {}) == "winograd");
  BOOST_TEST(kernels_of(model, false) == "onednn");
  BOOST_TEST(kernels_of(model, true) == "winograd");
  BOOST_TEST(kernels_of(model, {}) == "winograd");
}

BOOST_AUTO_TEST_CASE(the_option_precedes_the_variable) {
  const Environment off("MEZZO_FLOAT32_WINOGRAD", "0");
  for (const auto& [option, kernel] : {std::pair<std::optional<bool>, const char*>{{}, "onednn"},
                                       std::pair<std::optional<bool>, const char*>{true, "winograd"}}) {
    Sequential model({Conv2D({.filters = 64, .kernel_size = 3})});
    model.build({4, 18, 18, 64});
    BOOST_TEST(kernels_of(model, option) == kernel);
  }
}

BOOST_AUTO_TEST_CASE(eager_calls_follow_it) {
  Sequential model({Conv2D({.filters = 64, .kernel_size = 3})});
  model.build({4, 18, 18, 64});
  const DataLoader loader(Dataset::from_tensors({{"x", random_tensor({4, 18, 18, 64})}}), {.batch_size = 4});
  const auto outputs = [&](bool eager, bool winograd) {
    return Trainer({.enable_progress_bar = false, .eager = eager, .float32_winograd = winograd}).predict(model, loader);
  };
  for (const bool winograd : {true, false}) BOOST_TEST(outputs(true, winograd).equal(outputs(false, winograd)));
  BOOST_TEST(!outputs(true, true).equal(outputs(true, false)));
}

BOOST_AUTO_TEST_SUITE_END()
