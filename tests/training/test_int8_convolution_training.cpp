// Training of convolutions with products of int8: which products they are, their gradients and the losses they give.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/kernel_convolution.hpp>

#include "support/kernels.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t classes = 4, small_side = 8, large_side = 16;

/// Noise with a bright spot, whose corner is the class.
DataLoader spots(std::int64_t samples = 128, std::int64_t side = small_side) {
  Tensor x = random_tensor({samples, side, side, 3}, DType::float32, 7, -0.5, 0.5).copy();
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) {
    labels.push_back(i % classes);
    const std::int64_t row = i % classes / 2 * (side - 2), column = i % 2 * (side - 2);
    x.mutable_data<float>()[((i * side + row) * side + column) * 3] += 3;
  }
  return DataLoader(Dataset::from_tensors({{"x", x}, {"y", Tensor({samples}, labels), Role::target}}),
                    {.batch_size = 32});
}

Sequential compiled(Sequential model, std::int64_t side = small_side) {
  model.compile(
      {.optimizer = Adam({.learning_rate = 3e-3}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  model.build({32, side, side, 3});
  return model;
}

/// Convolutions of 3, 32, 32 and 128 channels, the third one with strides, and a classifier.
Sequential net(const Policy& policy = {}) {
  seed_everything(3);
  return compiled(
      Sequential({Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .name = "first"}),
                  Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .activation = "relu", .name = "second"}),
                  Conv2D({.filters = 128, .kernel_size = 3, .strides = 2, .name = "strided"}),
                  Conv2D({.filters = 128, .kernel_size = 1, .activation = "relu", .name = "point"}), Flatten(),
                  Dense({.units = classes, .name = "last"})},
                 {.dtype = policy}));
}

Trainer trainer(Precision precision, bool eager = false) {
  return Trainer({.max_epochs = 2, .precision = std::move(precision), .enable_progress_bar = false, .eager = eager});
}

/// Convolutions that differ in what decides on int8. Their images have 16 x 16, 16 x 16, 7 x 7, 7 x 7, 7 x 7, 11 x 11
/// and 5 x 5 windows.
Sequential various(const Policy& policy = {}) {
  seed_everything(3);
  return compiled(
      Sequential({Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .name = "first"}),
                  Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .activation = "relu", .name = "second"}),
                  Conv2D({.filters = 128, .kernel_size = 3, .strides = 2, .name = "strided"}),
                  Conv2D({.filters = 128, .kernel_size = 1, .activation = "relu", .name = "point"}),
                  Conv2D({.filters = 64, .kernel_size = 1, .name = "narrow"}),
                  Conv2D({.filters = 32, .kernel_size = 3, .padding = 3, .name = "padded"}),
                  Conv2D({.filters = 32, .kernel_size = 3, .strides = 2, .name = "small"}), Flatten(),
                  Dense({.units = classes, .name = "last"})},
                 {.dtype = policy}),
      large_side);
}

/// "first f i k, ...": the forward convolution, the input gradient and the kernel gradient of each layer in the model's
/// last plan; in capitals those in int8.
std::string convolutions_of(const Module& model) {
  std::vector<std::string> paths;
  std::map<std::string, std::string> letters;
  for (const detail::Plan::Row& row : model.run_state()->last_plan->rows()) {
    if (row.op.rfind("conv2d", 0) != 0) continue;
    if (letters.count(row.path) == 0) paths.push_back(row.path);
    const bool int8 = row.op.find(" int8") != std::string::npos;
    letters[row.path] += row.op.find("input") != std::string::npos    ? (int8 ? "I" : "i")
                         : row.op.find("kernel") != std::string::npos ? (int8 ? "K" : "k")
                                                                      : (int8 ? "F" : "f");
  }
  std::string text;
  for (const std::string& path : paths) {
    std::sort(letters[path].begin(), letters[path].end(),
              [](char a, char b) { return std::tolower(a) < std::tolower(b); });
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", path, letters[path]);
  }
  return text;
}

std::vector<double> epoch_losses(const Precision& precision, bool eager = false) {
  Sequential model = net();
  return trainer(precision, eager).fit(model, spots()).history.at("loss");
}

constexpr const char* products_in_int8 = "p=f32,c=f32,products=int8";

}  // namespace

BOOST_AUTO_TEST_SUITE(int8_convolution_training)

BOOST_AUTO_TEST_CASE(shapes_decide_which_convolutions_are_int8) {
  const auto takes = [](const Shape& kernel, std::int64_t groups = 1, std::int64_t windows = 49) {
    return detail::takes_int8_convolution(kernel, groups, windows);
  };
  BOOST_TEST(takes({3, 3, 32, 32}));
  BOOST_TEST(!takes({3, 3, 32, 32}, 1, 48));
  BOOST_TEST(takes({1, 1, 128, 32}));
  BOOST_TEST(!takes({1, 1, 124, 32}));  // of fewer than 128 terms
  BOOST_TEST(!takes({3, 3, 28, 64}));
  BOOST_TEST(!takes({3, 3, 64, 28}));
  BOOST_TEST(!takes({3, 3, 34, 32}));
  BOOST_TEST(!takes({3, 3, 32, 34}));
  BOOST_TEST(!takes({3, 3, 32, 64}, 2));
  BOOST_TEST(takes({3, 3, 7280, 32}));
  BOOST_TEST(!takes({3, 3, 7284, 32}));  // sums of 65556 terms
}

// Gradients of kernels stay in the compute dtype. So do gradients of inputs with strides ("strided"), of sums of 64
// terms
// ("narrow") or with padding outside of the kernel's reach ("padded"), and convolutions of few windows ("small").
BOOST_AUTO_TEST_CASE(policies_choose_layers) {
  const DataLoader loader = spots(32, large_side);
  const std::string behind = ", narrow Fik, padded Fik, small fik";
  Sequential own = various("mixed_int8");
  own.fit(loader, {.epochs = 1, .verbose = false});
  BOOST_TEST(convolutions_of(own) == "first fk, second FIk, strided Fik, point FIk" + behind);
  Sequential named = various();
  trainer("int8-mixed").fit(named, loader);
  BOOST_TEST(convolutions_of(named) == "first fk, second FIk, strided Fik, point FIk" + behind);
  Sequential mapped = various();
  const PolicyMap map({.default_policy = "mixed_int8", .policies = {{"second", "mixed_bfloat16"}}});
  trainer(map).fit(mapped, loader);
  BOOST_TEST(convolutions_of(mapped) == "first fk, second fik, strided Fik, point FIk" + behind);
  trainer("bf16").fit(mapped, loader);
  BOOST_TEST(convolutions_of(mapped) ==
             "first fk, second fik, strided fik, point fik, narrow fik, padded fik, small fik");
  trainer(Policy("p=f32,c=f32,products=int8_tiles")).fit(mapped, loader);
  BOOST_TEST(convolutions_of(mapped) == "first fk, second FIk, strided Fik, point FIk" + behind);
}

BOOST_AUTO_TEST_CASE(functional_models_and_predictors) {
  seed_everything(3);
  const Value x = Input({small_side, small_side, 32});
  const Value y = Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .name = "a"})(x);
  const Value z = Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .name = "b"})(y);
  Model model(x, Dense({.units = classes})(GlobalAveragePooling2D()(z)));
  model.compile({.loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const DataLoader loader(
      Dataset::from_tensors({{"x", random_tensor({32, small_side, small_side, 32}, DType::float32, 5)},
                             {"y", random::randint({32}, 0, classes), Role::target}}),
      {.batch_size = 32});
  trainer("int8-mixed").fit(model, loader);
  BOOST_TEST(convolutions_of(model) == "a fk, b FIk");
  trainer("bf16").fit(model, loader);
  BOOST_TEST(convolutions_of(model) == "a fk, b fik");
  const Tensor narrow = trainer("bf16").predict(model, loader), int8 = trainer("int8-mixed").predict(model, loader);
  BOOST_TEST(!int8.equal(narrow));
  // Each of the two convolutions may differ by 2 % of its largest output, see gradients_are_convolutions_of_codes().
  const double most = max(abs(Value(narrow))).item();
  BOOST_TEST(largest_difference(int8, narrow) < 0.1 * most);
  Predictor predictor(model, {.precision = "int8-mixed"});
  const Tensor images = random_tensor({32, small_side, small_side, 32}, DType::float32, 5);
  // The predictor's plan may round at other places, where bfloat16 has errors of 2^-9: far less than codes have.
  BOOST_TEST(largest_difference(predictor(images), int8) < 0x1p-6 * most);
  BOOST_TEST(!predictor(images).equal(narrow));
}

// Straight-through: gradients are those of the convolution of floats, up to the quantization of their own operands.
BOOST_AUTO_TEST_CASE(gradients_are_convolutions_of_codes) {
  const detail::PolicyScope scope{Policy(products_in_int8)};
  const Tensor x = random_tensor({2, 9, 10, 32}, DType::float32, 1);
  const Tensor kernel = random_tensor({3, 3, 32, 32}, DType::float32, 2);
  const Tensor cotangent = random_tensor({2, 7, 8, 32}, DType::float32, 3);
  Trace trace(Trace::Mode::eager, true);
  const Value a = trace.input("a", x), b = trace.input("b", kernel);
  const Value y = detail::conv2d_of_kernel(a, b, {});
  const Values gradients = mezzo::gradients(sum(y * cotangent), {a, b});
  const Attributes plain{
      {"strides", Shape{1, 1}}, {"padding", Shape{0, 0, 0, 0}}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
  const auto with = [&](const Shape& shape, bool int8) {
    Attributes attributes = plain;
    if (int8) attributes.set("products", std::string("int8"));
    attributes.set("shape", shape);
    attributes.set("dtype", DType::float32);
    return attributes;
  };
  const Tensor of_x = run_reference("conv2d_input_gradient", with(x.shape(), true), {cotangent, kernel}).front();
  const Tensor floats = run_reference("conv2d_input_gradient", with(x.shape(), false), {cotangent, kernel}).front();
  const Tensor of_kernel = run_reference("conv2d_kernel_gradient", with(kernel.shape(), false), {x, cotangent}).front();
  BOOST_TEST(largest_difference(gradients[0].tensor(), of_x) < 2e-5);
  BOOST_TEST(largest_difference(gradients[1].tensor(), of_kernel) < 1e-4);
  const double most = max(abs(Value(floats))).item();
  BOOST_TEST(largest_difference(of_x, floats) < 0.02 * most);
  BOOST_TEST(largest_difference(of_x, floats) > 0);
}

// A layer around computes another kernel. The policy in force when the model is called decides, with open sizes too.
BOOST_AUTO_TEST_CASE(replaced_kernels_take_part) {
  const DataLoader images(
      Dataset::from_tensors({{"x", random_tensor({2, small_side, small_side, 32}, DType::float32, 1)}}),
      {.batch_size = 2});
  const auto normalized = [] {
    return SpectralNormalization(Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .name = "inner"}));
  };
  const auto check = [&](Module& model) {
    const Tensor floats = trainer("float32").predict(model, images);
    const Tensor int8 = trainer(Policy(products_in_int8)).predict(model, images);
    BOOST_TEST(!int8.equal(floats));
    BOOST_TEST(largest_difference(int8, floats) < 0.02 * max(abs(Value(floats))).item());
  };
  Sequential sequential({normalized()});
  check(sequential);
  for (const std::int64_t size : {small_side, std::int64_t{-1}}) {
    const Value x = Input({size, size, 32});
    Model model(x, normalized()(x));
    check(model);
  }
}

// Quantized kernels, and fake ones with codes of images, have products of their own. Those of fake_int4 are the
// policy's.
BOOST_AUTO_TEST_CASE(summary_leaves_out_other_products) {
  const auto summary_of = [](const std::string& mode) {
    Sequential model({Conv2D({.filters = 32, .kernel_size = 3})}, {.dtype = "mixed_int8"});
    model.build({1, small_side + 2, small_side + 2, 32});
    if (!mode.empty()) model.quantize(mode);
    return model.summary_text();
  };
  const std::string text = "int8 products";
  BOOST_TEST(summary_of("").find(text) != std::string::npos);
  BOOST_TEST(summary_of("fake_int4").find(text) != std::string::npos);
  BOOST_TEST(summary_of("fake_int8").find(text) == std::string::npos);
  BOOST_TEST(summary_of("int8").find(text) == std::string::npos);
  BOOST_TEST(summary_of("int4").find(text) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(casts_turned_off_turn_them_off) {
  const Value x = random_tensor({1, 9, 10, 32}, DType::float32, 1),
              kernel = random_tensor({3, 3, 32, 32}, DType::float32, 2);
  const detail::PolicyScope scope{Policy(products_in_int8)};
  const Tensor floats = conv2d(x, kernel).tensor();
  BOOST_TEST(!detail::conv2d_of_kernel(x, kernel, {}).tensor().equal(floats));
  const auto off = disable_casts();
  BOOST_TEST(detail::conv2d_of_kernel(x, kernel, {}).tensor().equal(floats));
}

// Passes join bias and ReLU with it. A batch norm before or behind it stays an op of its own.
BOOST_AUTO_TEST_CASE(passes_keep_the_products) {
  const auto ops_of = [](const std::function<Value(const Value&, const Value&)>& call) {
    const detail::PolicyScope scope{Policy(products_in_int8)};
    Trace trace(Trace::Mode::graph, false);
    const Value x = trace.input("x", Spec{{2, 9, 9, 32}, DType::float32});
    const Value kernel = trace.input("kernel", Spec{{3, 3, 32, 32}, DType::float32});
    trace.output("y", call(x, kernel));
    std::string text;
    const Graph graph = run_passes(trace.graph(), {});
    for (const detail::NodePtr& node : graph.nodes) {
      if (node->op->infer == nullptr) continue;
      text += fmt::format("{}{}{}; ", node->op->name, node->attributes.has("products") ? " int8" : "",
                          node->attributes.has("epilogue") ? " with relu" : "");
    }
    return text;
  };
  const Value bias = random_tensor({32}, DType::float32, 3);
  BOOST_TEST(ops_of([&](const Value& x, const Value& kernel) {
               return relu(bias_add(detail::conv2d_of_kernel(x, kernel, {}), bias));
             }) == "conv2d int8 with relu; ");
  BOOST_TEST(ops_of([](const Value& x, const Value& kernel) {
               const Value in_int8 = detail::conv2d_of_kernel(x, kernel, {});
               return in_int8 + conv2d(x, kernel);
             }) == "conv2d int8; conv2d; add; ");
}

// Tolerance: a product may differ by 2 % of its largest result (see above), and steps add these differences up.
BOOST_AUTO_TEST_CASE(losses_follow_those_of_16_bits) {
  const std::vector<double> narrow = epoch_losses("bf16"), int8 = epoch_losses("int8-mixed");
  for (std::size_t epoch = 0; epoch < narrow.size(); ++epoch) {
    BOOST_TEST(int8[epoch] == narrow[epoch], boost::test_tools::tolerance(0.1));
    BOOST_TEST(int8[epoch] != narrow[epoch]);
  }
}

BOOST_AUTO_TEST_CASE(eager_steps_and_rematerialized_layers_compute_the_same) {
  const Policy policy(products_in_int8);
  const std::vector<double> planned = epoch_losses(policy), eager = epoch_losses(policy, true);
  Sequential again = net();
  again.get_layer("second").set_remat(true);
  const std::vector<double> twice = trainer(policy).fit(again, spots()).history.at("loss");
  for (std::size_t i = 0; i < planned.size(); ++i) {
    BOOST_TEST(eager[i] == planned[i], boost::test_tools::tolerance(1e-4));
    BOOST_TEST(twice[i] == planned[i], boost::test_tools::tolerance(1e-4));
  }
}

BOOST_AUTO_TEST_CASE(explain_and_summary_name_them) {
  Sequential model = net("mixed_int8");
  model.fit(spots(), {.epochs = 1, .verbose = false});
  const std::string text = model.explain();
  for (const char* op : {"conv2d int8", "conv2d_input_gradient int8"}) {
    BOOST_TEST(text.find(op) != std::string::npos, text);
  }
  const std::string summary = model.summary_text();
  const auto line_of = [&](const std::string& name) {
    const std::size_t begin = summary.find(name);
    return summary.substr(begin, summary.find('\n', begin) - begin);
  };
  BOOST_TEST(line_of("first (Conv2D)").find("int8") == std::string::npos, summary);
  BOOST_TEST(line_of("second (Conv2D)").find("bfloat16, int8 products") != std::string::npos, summary);
}

BOOST_AUTO_TEST_SUITE_END()
