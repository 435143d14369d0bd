#include <boost/test/unit_test.hpp>

#include <functional>

#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Checks the error of a graph y = Relu(x), changed by `change`.
void refused(const std::string& text, const std::function<void(OnnxFile&)>& change) {
  OnnxFile file;
  file.input("x", {-1, 3});
  file.node("Relu", {"x"}, {"h"}, "first");
  file.node("Relu", {"h"}, {"y"}, "second");
  file.output("y");
  change(file);
  check_throws<FileError>(file.label() + text, [&] { file.load(); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_errors)

BOOST_AUTO_TEST_CASE(graphs_must_be_valid) {
  refused(
      "node \"first\" (Relu) input \"h\" must come from an earlier node; got one from this or a later node (a cycle, "
      "or nodes in a wrong order)",
      [](OnnxFile& file) { *file.graph().mutable_node(0)->mutable_input(0) = "h"; });
  refused(
      "node \"first\" (Relu) input \"z\" must be an input of the graph, an initializer or made by a node; it is "
      "missing",
      [](OnnxFile& file) { *file.graph().mutable_node(0)->mutable_input(0) = "z"; });
  refused("node \"second\" (Relu) names of values must differ; got \"x\" twice",
          [](OnnxFile& file) { *file.graph().mutable_node(1)->mutable_output(0) = "x"; });
  refused("output \"z\" must be made by a node; none makes it", [](OnnxFile& file) { file.output("z"); });
  refused("names of outputs must differ; got \"y\" twice", [](OnnxFile& file) { file.output("y"); });
  refused("input \"x\" names of values must differ; got \"x\" twice", [](OnnxFile& file) { file.input("x", {1}); });
  refused("opset of the default domain must be from 1 to 22; got 99",
          [](OnnxFile& file) { file.message.mutable_opset_import(0)->set_version(99); });
}

BOOST_AUTO_TEST_CASE(operators_must_be_known) {
  refused("node \"second\" (Bernoullis) the operator isn't supported",
          [](OnnxFile& file) { file.graph().mutable_node(1)->set_op_type("Bernoullis"); });
  refused("node \"second\" (Relu) attribute \"alpha\" isn't supported",
          [](OnnxFile& file) { set_number(*file.graph().mutable_node(1), "alpha", 1); });
  refused("node \"second\" (Relu) the operator must be of ONNX's default domain; got domain \"com.microsoft\"",
          [](OnnxFile& file) { file.graph().mutable_node(1)->set_domain("com.microsoft"); });
  refused("node \"second\" (Relu) number of inputs must be from 1 to 1; got 2",
          [](OnnxFile& file) { file.graph().mutable_node(1)->add_input("x"); });
  refused("input \"s\" must be a tensor; got a sequence, a map or an optional value", [](OnnxFile& file) {
    auto& input = *file.graph().add_input();
    input.set_name("s");
    input.mutable_type()->mutable_sequence_type();
  });
  refused("input \"s\" mezzo has no dtype STRING",
          [](OnnxFile& file) { file.input("s", {1}, ::onnx::TensorProto::STRING); });
}

// A node that no output needs isn't run, so it may be of any kind.
BOOST_AUTO_TEST_CASE(unused_nodes_are_left_out) {
  OnnxFile file;
  file.input("x", {-1, 3});
  file.node("Unheard", {"x"}, {"unused"});
  file.node("Relu", {"x"}, {"y"});
  file.output("y");
  BOOST_TEST(file.load()->predict(Tensor({2, 3})).shape() == Shape({2, 3}));
}

BOOST_AUTO_TEST_CASE(tensors_must_have_their_numbers) {
  refused("tensor \"w\": shape (2, 2) needs 4 numbers; got 3", [](OnnxFile& file) {
    file.floats("w", {2, 2}, {1, 2, 3});
  });
  refused("tensor \"w\": sizes must not be negative; got -2", [](OnnxFile& file) { file.floats("w", {-2}, {1}); });
  refused("tensor \"w\": the shape has too many elements; got 2^64 or more bytes", [](OnnxFile& file) {
    file.floats("w", {std::int64_t{1} << 40, std::int64_t{1} << 40}, {1});
  });
  refused("tensor \"w\": shape (2,) needs 8 bytes; got 3", [](OnnxFile& file) {
    file.floats("w", {2}, {});
    file.graph().mutable_initializer(0)->set_raw_data("abc");
  });
}

// Errors of a run name operator and node.
BOOST_AUTO_TEST_CASE(errors_of_a_run_name_the_node) {
  OnnxFile file;
  file.input("x", {-1, 3});
  file.floats("w", {2, 2}, {1, 2, 3, 4});
  file.node("MatMul", {"x", "w"}, {"h"}, "product");
  file.node("Softmax", {"h"}, {"y"}, "scores");
  file.output("y");
  const Any<Model> model = file.load();
  try {
    model->predict(Tensor({2, 3}));
    BOOST_ERROR("nothing was thrown");
  } catch (const ShapeError& error) {
    BOOST_TEST(std::string(error.what()).rfind("[MatMul \"product\"]", 0) == 0U, error.what());
  }
}

// A branch is chosen if its condition is a constant or follows from sizes.
BOOST_AUTO_TEST_CASE(branches_need_a_known_condition) {
  const auto add_branches = [](OnnxFile& file, const std::string& condition) {
    file.input("x", {-1, 3});
    auto& node = file.node("If", {condition}, {"y"}, "choice");
    for (const auto& [name, op] : {std::pair{"then_branch", "Neg"}, {"else_branch", "Relu"}}) {
      auto& branch = attribute(node, name);
      branch.set_type(::onnx::AttributeProto::GRAPH);
      auto& inner = *branch.mutable_g()->add_node();
      inner.set_op_type(op);
      inner.add_input("x");
      inner.add_output(std::string(name) + "_y");
      branch.mutable_g()->add_output()->set_name(std::string(name) + "_y");
    }
    file.output("y");
  };
  OnnxFile known;
  known.ints("yes", {1});
  add_branches(known, "yes");
  BOOST_TEST(known.load()->predict(ones({1, 3})).to_doubles()[0] == -1);
  OnnxFile open;
  open.input("flag", {1}, ::onnx::TensorProto::BOOL);
  add_branches(open, "flag");
  const Any<Model> model = open.load();
  check_throws<ValueError>(
      "[If \"choice\"] condition must be a constant, or follow from shapes; got one that depends on the numbers of the "
      "batch",
      [&] {
        model->predict({Tensor({1}, DType::boolean), Tensor({1, 3})});
      });
}

BOOST_AUTO_TEST_SUITE_END()
