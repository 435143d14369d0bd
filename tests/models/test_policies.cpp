// A training step of every model under every policy against float64, and 30 steps.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/parallel.hpp>
#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "small.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor labels(const Shape& shape, std::int64_t classes) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 7 * static_cast<std::int64_t>(i) % classes;
  return {shape, out};
}

/// Number of steps that loss scaling may skip until its scale fits.
std::ptrdiff_t skipped(const std::string& policy) { return policy == "float16" || policy == "mixed_float16" ? 4 : 0; }

/// Losses of one fixed batch, before the first of 30 steps and after the last.
template <class M>
void check(const std::string& policy, const std::string& name, M model, const Tensor& x, const Tensor& y,
           double learning_rate = 1e-2) {
  model.compile({.optimizer = Adam({.learning_rate = learning_rate}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Dataset data = Dataset::from_tensors({{"x", x}, {"y", y, Role::target}});
  const Trainer trainer({.max_epochs = 31, .precision = policy, .enable_progress_bar = false});
  const std::vector<double> losses =
      trainer.fit(model, DataLoader(data, {.batch_size = x.shape()[0]})).history.at("loss");
  BOOST_TEST_REQUIRE(losses.size() == 31U);
  // The loss of an epoch whose only step is skipped is NaN.
  const auto first = std::find_if(losses.begin(), losses.end(), [](double loss) { return std::isfinite(loss); });
  BOOST_TEST_REQUIRE(std::distance(losses.begin(), first) <= skipped(policy));
  BOOST_TEST(losses.back() < *first / 2, name << " in " << policy << ": from " << *first << " to " << losses.back());
  BOOST_TEST_MESSAGE(name << " in " << policy << ": from " << *first << " to " << losses.back());
}

void check_all(const std::string& policy) {
  const detail::OneThread small;  // some oneDNN kernels spin until all their threads have a core
  seed_everything(1);
  const Tensor text = random_tensor({4, 7}, DType::int64, 1, 0, 17);
  check(policy, "mlp", MLP({.hidden_units = {16}, .classes = 4}), images({8, 5, 4, 3}), labels({8}, 4));
  check(policy, "cnn", CNN({.classes = 4, .scale = 1}), images({4, 12, 12, 2}), labels({4}, 4));
  check(policy, "lenet", LeNet({.scale = 1}), images({4, 28, 28, 1}), labels({4}, 10));
  check(policy, "resnet", ResNet(ResNet::Block::basic, {1, 1, 1, 1}, {.classes = 4}), images({4, 16, 16, 3}),
        labels({4}, 4), 1e-3);
  check(policy, "vit", ViT(small_vit()), images({4, 8, 8, 3}), labels({4}, 5));
  check(policy, "bert", BertForSequenceClassification({.bert = small_bert()}), text, labels({4}, 2));
  check(policy, "gpt", GPT(small_gpt()), text, labels({4, 7}, 17));
}

/// Bounds of a policy, about twice what was measured. Gradients of the CNN get a bound of their own: where two inputs
/// of its max pooling are nearly equal, rounding selects the other one, and the whole cotangent goes there.
struct Bounds {
  double output = 0;
  double gradient = 0;
  double cnn_gradient = 0;
  double scale = 1;  ///< of the backward pass, as under loss scaling
};

/// Compares a step of each model with the one that PyTorch made in float64: logits, loss and the gradient of each
/// weight, relative to its norm.
void check_gradients(const std::string& policy, const Bounds& bounds) {
  const detail::OneThread small;
  const detail::PolicyScope scope{Policy(policy)};
  const DType dtype = policy == "float64" ? DType::float64 : DType::float32;  // of the images
  const auto check_step = [&](const std::string& name, auto model, double gradient) {
    BOOST_TEST_CONTEXT(name << " in " << policy) {
      BOOST_TEST_MESSAGE(name << " in " << policy);
      check_training_step(recorded("models").at(name), model, dtype, {.output = bounds.output, .gradient = gradient},
                          bounds.scale);
    }
  };
  check_step("cnn", CNN({.classes = 4, .scale = 1, .dropout = 0}), bounds.cnn_gradient);
  check_step("mlp", MLP({.hidden_units = {7, 6}, .classes = 4}), bounds.gradient);
  check_step("lenet", LeNet({.scale = 1}), bounds.gradient);
  check_step("vit", ViT(small_vit()), bounds.gradient);
  check_step("bert", BertForSequenceClassification({.bert = small_bert(), .num_labels = 3}), bounds.gradient);
  check_step("gpt", GPT(small_gpt()), bounds.gradient);
}

constexpr Bounds bfloat16_bounds{.output = 0.12, .gradient = 0.08, .cnn_gradient = 0.15};
constexpr Bounds float16_bounds{.output = 0.012, .gradient = 0.015, .cnn_gradient = 0.04, .scale = 1024};

}  // namespace

BOOST_AUTO_TEST_SUITE(policies)

BOOST_AUTO_TEST_CASE(gradients_in_float64_equal_pytorchs) {
  check_gradients("float64", {.output = 1e-9, .gradient = 1e-9, .cnn_gradient = 1e-9});
}

BOOST_AUTO_TEST_CASE(gradients_in_float32_are_bounded) {
  check_gradients("float32", {.output = 1e-5, .gradient = 1e-5, .cnn_gradient = 1e-5});
}

BOOST_AUTO_TEST_CASE(gradients_in_mixed_bfloat16_are_bounded) { check_gradients("mixed_bfloat16", bfloat16_bounds); }

BOOST_AUTO_TEST_CASE(gradients_in_bfloat16_are_bounded) { check_gradients("bfloat16", bfloat16_bounds); }

BOOST_AUTO_TEST_CASE(gradients_in_mixed_float16_are_bounded) { check_gradients("mixed_float16", float16_bounds); }

BOOST_AUTO_TEST_CASE(gradients_in_float16_are_bounded) { check_gradients("float16", float16_bounds); }

BOOST_AUTO_TEST_CASE(thirty_steps_in_float32_halve_the_loss) { check_all("float32"); }

BOOST_AUTO_TEST_CASE(thirty_steps_in_float64_halve_the_loss) { check_all("float64"); }

BOOST_AUTO_TEST_CASE(thirty_steps_in_mixed_bfloat16_halve_the_loss) { check_all("mixed_bfloat16"); }

BOOST_AUTO_TEST_CASE(thirty_steps_in_mixed_float16_halve_the_loss) { check_all("mixed_float16"); }

BOOST_AUTO_TEST_CASE(thirty_steps_in_bfloat16_halve_the_loss) { check_all("bfloat16"); }

BOOST_AUTO_TEST_CASE(thirty_steps_in_float16_halve_the_loss) { check_all("float16"); }

BOOST_AUTO_TEST_SUITE_END()
