// Compares the losses of a training with PyTorch's, as recorded by tests/parity/fashion_losses.py.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/backends/onednn/api.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "formula.hpp"
#include "support/environment.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Weights by the formula, in the layout of files. Biases are 0, as at Keras' start.
void load_start(Model& model) {
  NamedTensors tensors;
  for (const auto& entry : recorded("fashion_losses").at("weights")) {
    const auto name = entry.at(0).get<std::string>();
    const auto shape = entry.at(1).get<Shape>();
    const auto place = static_cast<std::uint32_t>(tensors.size());
    tensors.emplace_back(name, shape.size() > 1 ? weight_by_formula(name, shape, place, 0) : Tensor(shape));
  }
  const Folder folder;
  save_safetensors(folder.path("weights"), tensors, {});
  model.load_weights(folder.path("weights"));
}

/// Largest difference from the recorded losses of the first `steps` steps under a policy.
double largest_difference_of_losses(const Dataset& train, const std::string& policy,
                                    std::optional<bool> float32_winograd = {}) {
  const nlohmann::json& expected = recorded("fashion_losses");
  CNN model({.dropout = 0, .dtype = policy});
  model.build({expected.at("batch").get<std::int64_t>(), 28, 28, 1});
  load_start(model);
  model.compile(
      {.optimizer = Adam({.learning_rate = 1e-3}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const auto losses = expected.at(policy).get<std::vector<double>>();
  detail::StepRunner runner(model, {.float32_winograd = float32_winograd});
  const DataLoader loader(train, {.batch_size = expected.at("batch").get<std::int64_t>()});
  detail::BatchStream stream = loader.epoch(0);
  double largest = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto batch = stream.next();
    if (i == 0) {
      runner.rehearse(Stage::fit, *batch);
      runner.configure(true);
    }
    runner.run(Stage::fit, *batch);
    const double difference = std::abs(runner.value(0) - losses[i]);
    BOOST_TEST_MESSAGE(policy << " step " << i << ": off by " << difference);
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fashion_losses)

BOOST_AUTO_TEST_CASE(are_torchs) {
  Dataset train;
  try {
    train = datasets::fashion_mnist().first;
  } catch (const FileError& error) {
    return skip(error.what());
  }
  BOOST_TEST(largest_difference_of_losses(train, "float64") < 1e-9);
  // PyTorch and mezzo call the same convolutions of oneDNN, without Winograd's algorithm. Other instruction sets than
  // the recording's, AVX2, and oneDNN 3 add in another order: single ReLUs and maxima near a tie then differ, and
  // losses by up to 4e-5, as PyTorch's own in float32 and float64 do.
  const bool as_recorded = isa() == Isa::avx2 && dnnl_version()->major == 2;
  BOOST_TEST(largest_difference_of_losses(train, "float32", false) < (as_recorded ? 1e-5 : 1e-4));
  for (const std::optional<bool> winograd : {std::optional<bool>(), std::optional<bool>(true)}) {
    BOOST_TEST(largest_difference_of_losses(train, "float32", winograd) < 1e-4);
  }
}

BOOST_AUTO_TEST_SUITE_END()
