#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::int64_t trained_numbers(const ResNet& model) {
  std::int64_t count = 0;
  for (const Variable& weight : model.trainable_weights()) count += element_count(weight.shape());
  return count;
}

class Classifier : public Module {
 public:
  Value training_step(const Batch& batch) override {
    return sparse_categorical_crossentropy(batch["label"], backbone_(batch["image"]), {.from_logits = true});
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 1e-3})}}; }

 private:
  ResNet backbone_ = sub("backbone", resnet18({.classes = 37}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(resnet)

BOOST_AUTO_TEST_CASE(weights_are_as_many_as_torchvisions) {
  const std::pair<ResNet (*)(const ResNetOptions&), std::int64_t> networks[] = {
      {resnet18, 11'689'512}, {resnet34, 21'797'672}, {resnet50, 25'557'032}};
  for (const auto& network : networks) {
    ResNet model = network.first({});
    BOOST_TEST((model(Input({.shape = {224, 224, 3}})).shape() == Shape{-1, 1000}));
    BOOST_TEST(trained_numbers(model) == network.second);
  }
}

BOOST_AUTO_TEST_CASE(weights_are_named_as_torchvisions) {
  for (const char* name : {"resnet18_64", "resnet50_64"}) {
    const nlohmann::json& expected = recorded("resnet").at(name).at("weights");
    ResNet model = name[6] == '1' ? resnet18() : resnet50();
    model.build({1, 32, 32, 3});
    const auto weights = detail::file_weights(*model.state()).weights;
    BOOST_TEST_REQUIRE(weights.size() == expected.size());
    for (std::size_t i = 0; i < weights.size(); ++i) BOOST_TEST(weights[i].name() == expected[i][0]);
  }
}

// torchvision's initial values: kaiming_normal_(fan_out, relu) for convolutions, torch's defaults for fc.
BOOST_AUTO_TEST_CASE(initial_values_are_drawn_as_torchvisions) {
  ResNet model = resnet18({.zero_init_residual = true});
  model.build({1, 32, 32, 3});
  std::map<std::string, Tensor> values = values_of(model);
  const auto deviation = [&](const std::string& path) {
    return std::sqrt(dot(values.at(path), values.at(path)) / static_cast<double>(values.at(path).size()));
  };
  // fan_out of the last kernel is 512 * 9. The relative error of a standard deviation from n numbers is 1 / sqrt(2 n).
  BOOST_TEST(deviation("layer4/1/conv2/kernel") == std::sqrt(2.0 / (512 * 9)), boost::test_tools::tolerance(3e-3));
  BOOST_TEST(deviation("conv1/kernel") == std::sqrt(2.0 / (64 * 49)), boost::test_tools::tolerance(3e-2));
  BOOST_TEST(deviation("layer1/0/bn1/gamma") == 1);
  BOOST_TEST(deviation("layer1/0/bn2/gamma") == 0);
  const double limit = 1 / std::sqrt(512.0);
  for (const char* path : {"fc/kernel", "fc/bias"}) {
    const std::vector<double> numbers = values.at(path).to_doubles();
    BOOST_TEST(*std::max_element(numbers.begin(), numbers.end()) == limit, boost::test_tools::tolerance(2e-2));
    BOOST_TEST(*std::min_element(numbers.begin(), numbers.end()) == -limit, boost::test_tools::tolerance(2e-2));
  }
}

BOOST_AUTO_TEST_CASE(a_step_in_float64_equals_torchs) {
  const detail::PolicyScope policy{Policy("float64")};
  for (const char* name : {"resnet18_64", "resnet50_64"}) {
    const nlohmann::json& expected = recorded("resnet").at(name);
    const ResNetOptions options{.classes = expected.at("classes")};
    ResNet model = name[6] == '1' ? resnet18(options) : resnet50(options);
    BOOST_TEST_CONTEXT(name) {
      check_training_step(expected, model, DType::float64, {.output = 1e-9, .gradient = 1e-9, .moved = 1e-9});
    }
  }
}

BOOST_AUTO_TEST_CASE(a_step_in_float32_equals_torchs) {
  const bool small = std::getenv("MEZZO_TEST_SMALL") != nullptr;
  for (const std::string name : {"resnet18_64", "resnet18_224"}) {
    if (small && name == "resnet18_224") continue;
    const nlohmann::json& expected = recorded("resnet").at(name);
    ResNet model = resnet18({.classes = expected.at("classes")});
    BOOST_TEST_CONTEXT(name) {
      check_training_step(expected, model, DType::float32, {.output = 1e-4, .gradient = 1e-3, .moved = 1e-5});
    }
  }
}

BOOST_AUTO_TEST_CASE(a_module_trains_it_as_its_backbone) {
  const Dataset data =
      Dataset::from_tensors({{"image", random_tensor({4, 32, 32, 3})},
                             {"label", Tensor({4}, std::vector<std::int64_t>{0, 36, 5, 5}), Role::target}});
  seed_everything(1);
  Classifier classifier;
  const History history = Trainer({.max_epochs = 2, .precision = "bf16", .enable_progress_bar = false})
                              .fit(classifier, DataLoader(data, {.batch_size = 4}));
  BOOST_TEST(history.history.at("loss").back() < history.history.at("loss").front());
  BOOST_TEST(classifier.named_weights().front().first == "backbone/conv1/kernel");
}

BOOST_AUTO_TEST_CASE(it_is_compiled_called_on_symbols_and_cloned) {
  const Tensor x = random_tensor({2, 32, 32, 3});
  ResNet model = resnet50({.classes = 3});
  model.compile({.optimizer = SGD({.learning_rate = 1e-3}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(x, Tensor({2}, std::vector<std::int64_t>{2, 0}), {.verbose = false});
  const Tensor expected = model.predict(x);
  const Value input = Input({.shape = {32, 32, 3}});
  BOOST_TEST(Model({.inputs = {input}, .outputs = {model(input)}}).predict(x).equal(expected));
  ResNet copy = clone(model);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(copy.predict(x).equal(expected));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { resnet18({.classes = 0}); }) == "[ResNet] classes must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] {
               ResNet(ResNet::Block::basic, {1, 2, 0, 1}, {.name = "net"});
             }) == "[ResNet \"net\"] layers must be at least 1; got 0");
}

BOOST_AUTO_TEST_SUITE_END()
