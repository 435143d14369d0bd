// Loops and steps of recurrent operators.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Sums of the rows of x, step by step: s += w x[t], with outputs s and the sums after each step.
void add_running_sums(OnnxFile& file, bool reverse) {
  file.input("x", {-1, -1, 2});
  file.floats("w", {2}, {1, 2});
  file.floats("zeros", {2}, {0, 0});
  auto& sizes = *file.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  sizes.mutable_dim(1)->set_dim_param("steps");
  file.ints("axes", {1});
  set_int(file.node("ReduceSum", {"x", "axes"}, {"rows"}), "keepdims", 0);
  file.node("Mul", {"rows", "zeros"}, {"start"});
  auto& node = file.node("Scan", {"start", "x"}, {"last", "all"}, "sums");
  set_int(node, "num_scan_inputs", 1);
  set_ints(node, "scan_input_axes", {1});
  set_ints(node, "scan_output_axes", {-2});
  if (reverse) {
    set_ints(node, "scan_input_directions", {1});
    set_ints(node, "scan_output_directions", {1});
  }
  auto& body = add_body(node, "body", {"s", "row"}, {"next", "copy"});
  add_node(body, "Mul", {"row", "w"}, {"scaled"});
  add_node(body, "Add", {"s", "scaled"}, {"next"});
  add_node(body, "Identity", {"next"}, {"copy"});
  file.output("last");
  file.output("all");
}

// y = x doubled `count` times, and the values on the way; the condition is i + 1 < count.
void add_doubling(OnnxFile& file, const std::string& count, const std::string& trips) {
  file.ints("one", {1});
  file.ints("yes", {1});
  auto& node = file.node("Loop", {trips, "yes", "x"}, {"y", "all"}, "doubling");
  auto& body = add_body(node, "body", {"i", "c", "v"}, {"goes_on", "v2", "v3"});
  add_node(body, "Add", {"i", "one"}, {"next"});
  add_node(body, "Less", {"next", count}, {"goes_on"});
  add_node(body, "Add", {"v", "v"}, {"v2"});
  add_node(body, "Identity", {"v2"}, {"v3"});
  file.output("y");
  file.output("all");
}

std::vector<Tensor> outputs_of(Model& model, const Tensor& x) {
  const Tensors all = model.predict_all(x);
  return {all[0], all[1]};
}

// An LSTM of one unit whose weights are all 0.5, for x (steps, 1, 1).
void add_small_lstm(OnnxFile& file) {
  file.input("x", {-1, 1, 1});
  file.floats("w", {1, 4, 1}, std::vector<float>(4, 0.5F));
  file.floats("r", {1, 4, 1}, std::vector<float>(4, 0.5F));
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_loops)

BOOST_AUTO_TEST_CASE(scan_runs_a_body_along_an_axis) {
  const Tensor x = Tensor({1, 3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  for (const bool reverse : {false, true}) {
    OnnxFile file;
    add_running_sums(file, reverse);
    const Any<Model> model = file.load();
    const auto all = outputs_of(*model, x);
    BOOST_TEST(all[0].to_doubles() == (std::vector<double>{9, 24}), boost::test_tools::per_element());
    const std::vector<double> forward{1, 4, 4, 12, 9, 24}, backward{9, 24, 8, 20, 5, 12};
    BOOST_TEST(all[1].shape() == Shape({1, 3, 2}));
    BOOST_TEST(all[1].to_doubles() == (reverse ? backward : forward), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(weights_in_a_body_train) {
  OnnxFile file;
  add_running_sums(file, false);
  const Any<Model> model = file.load({.trainable = "w", .outputs = {"sums"}});
  const Input x({3, 2});
  Model outer(x, Dense(1)((*model)(x)));
  outer.compile({.optimizer = SGD(1e-3), .loss = "mse"});
  const Tensor before = model->trainable_weights().at(0).value();
  const History history = outer.fit(ones({4, 3, 2}), Tensor({4, 1}), {.epochs = 5, .verbose = 0});
  BOOST_TEST(history["loss"].back() < history["loss"].front());
  BOOST_TEST(!model->trainable_weights()[0].value().equal(before));
}

BOOST_AUTO_TEST_CASE(loops_with_known_conditions_are_written_out) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.ints("three", {3});
  add_doubling(file, "three", "");
  const Any<Model> model = file.load();
  const auto all = outputs_of(*model, ones({1, 2}));
  BOOST_TEST(all[0].to_doubles()[0] == 8);
  BOOST_TEST(all[1].shape() == Shape({3, 1, 2}));
  BOOST_TEST(all[1].to_doubles() == (std::vector<double>{2, 2, 4, 4, 8, 8}), boost::test_tools::per_element());
  OnnxFile bounded;
  bounded.input("x", {-1, 2});
  bounded.ints("three", {3});
  bounded.ints("trips", {2});
  add_doubling(bounded, "three", "trips");
  BOOST_TEST(outputs_of(*bounded.load(), ones({1, 2}))[0].to_doubles()[0] == 4);
}

BOOST_AUTO_TEST_CASE(conditions_of_the_batch_run_on_arrays_alone) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.input("count", {1}, ::onnx::TensorProto::INT64);
  add_doubling(file, "count", "");
  const Any<Model> model = file.load();
  const Tensor x = ones({1, 2});
  const Values eager = (*model)({Value(x), Value(Tensor({1}, std::vector<std::int64_t>{5}))});
  BOOST_TEST(eager[0].tensor().to_doubles()[0] == 32);
  check_throws<ValueError>(
      "[Loop \"doubling\"] the condition must be a constant, or follow from shapes and the iteration; got one that "
      "depends on the numbers of the batch",
      [&] {
        model->predict_all({{"x", x}, {"count", Tensor({1}, std::vector<std::int64_t>{5})}});
      });
  OnnxFile endless;
  endless.input("x", {-1, 2});
  endless.ints("three", {1'000'000});
  add_doubling(endless, "three", "");
  check_throws<ValueError>(
      "[Loop \"doubling\"] the iterations of the loops of this graph must run at most 8192 nodes; "
      "got more",
      [&] { endless.load()->predict_all(x); });
}

BOOST_AUTO_TEST_CASE(peepholes_clip_and_coupled_gates) {
  OnnxFile file;
  add_small_lstm(file);
  file.floats("p", {1, 3}, {1, 2, 3});  // i, o, f
  auto& node = file.node("LSTM", {"x", "w", "r", "", "", "", "", "p"}, {"all", "h", "c"}, "cell");
  set_int(node, "hidden_size", 1);
  set_number(node, "clip", 0.75F);
  set_int(node, "input_forget", 1);
  file.output("h");
  const Any<Model> model = file.load();
  double h = 0, c = 0;
  for (const double x : {1.0, 2.0}) {
    const auto bounded = [](double z) { return std::min(std::max(z, -0.75), 0.75); };
    const double z = 0.5 * x + 0.5 * h, i = logistic(bounded(z + c));
    c = (1 - i) * c + i * std::tanh(bounded(z));
    h = logistic(bounded(z + 2 * c)) * std::tanh(c);
  }
  const Tensor y = model->predict_on_batch(Tensor({2, 1, 1}, std::vector<float>{1, 2}));
  BOOST_TEST(y.to_doubles()[0] == h, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(activations_have_their_numbers) {
  OnnxFile file;
  add_small_lstm(file);
  auto& node = file.node("LSTM", {"x", "w", "r"}, {"all", "h", "c"}, "cell");
  set_texts(node, "activations", {"HardSigmoid", "ScaledTanh", "Affine"});
  auto& alpha = attribute(node, "activation_alpha");
  alpha.set_type(::onnx::AttributeProto::FLOATS);
  for (const float number : {0.25F, 1.5F, 2.0F}) alpha.add_floats(number);
  auto& beta = attribute(node, "activation_beta");
  beta.set_type(::onnx::AttributeProto::FLOATS);
  for (const float number : {0.5F, 0.5F, 0.125F}) beta.add_floats(number);
  file.output("h");
  const double gate = 0.25 * 0.5 + 0.5, c = gate * 1.5 * std::tanh(0.5 * 0.5), h = gate * (2 * c + 0.125);
  const Tensor y = file.load()->predict_on_batch(ones({1, 1, 1}));
  BOOST_TEST(y.to_doubles()[0] == h, boost::test_tools::tolerance(1e-6));
  *file.graph().mutable_node(0)->mutable_attribute(0)->mutable_strings(0) = "Cube";
  const Any<Model> unknown = file.load();
  check_throws<ValueError>("[LSTM \"cell\"] activation \"Cube\" isn't supported", [&] {
    unknown->predict_on_batch(ones({1, 1, 1}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
