// Habana HMP's and torch.amp's lists name by name, and the rule that each op follows where no list has it.
#include <boost/test/unit_test.hpp>

#include <set>

#include <mezzo/graph/op.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>

#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Names = std::vector<std::string>;

const Names hmp_lower{
    "addmm",  "batch_norm", "bmm",       "conv1d",    "conv2d",     "conv3d",        "conv_transpose1d",
    "dot",    "dropout",    "dropout1d", "dropout2d", "dropout3d",  "group_norm",    "conv_transpose2d",
    "mm",     "mul",        "mv",        "relu",      "leaky_relu", "instance_norm", "conv_transpose3d",
    "linear", "matmul",     "t",         "layer_norm"};
const Names hmp_float32{"binary_cross_entropy",
                        "binary_cross_entropy_with_logits",
                        "cross_entropy",
                        "div",
                        "divide",
                        "embedding",
                        "embedding_bag",
                        "log",
                        "log2",
                        "log_softmax",
                        "nll_loss",
                        "smooth_l1_loss",
                        "softmax",
                        "topk",
                        "truediv"};
const Names amp_lower{"conv1d",
                      "conv2d",
                      "conv3d",
                      "conv_transpose1d",
                      "conv_transpose2d",
                      "conv_transpose3d",
                      "mm",
                      "bmm",
                      "addmm",
                      "baddbmm",
                      "matmul",
                      "linear",
                      "rnn_tanh",
                      "rnn_relu",
                      "prelu",
                      "scaled_dot_product_attention"};
const Names amp_float32{"cross_entropy",       "nll_loss", "mse_loss",   "l1_loss",
                        "smooth_l1_loss",      "kl_div",   "avg_pool3d", "norm",
                        "max_pool3d",          "prod",     "cdist",      "hinge_embedding_loss",
                        "binary_cross_entropy"};
const Names amp_promote{"cat", "stack", "index_copy"};

const OpLists nothing_listed({.lower = Names{}, .float32 = Names{}});

/// The dtypes of the operands of the one node of that op.
std::string operands_of(Trace& trace, const std::string& op) {
  std::string text;
  for (const detail::NodePtr& node : trace.graph().nodes) {
    if (node->op->name != op) continue;
    for (const Value& input : node->inputs) text += std::string(text.empty() ? "" : " ") + dtype_name(input.dtype());
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(op_list_rules)

BOOST_AUTO_TEST_CASE(the_default_lists_are_hmps_name_by_name) {
  BOOST_TEST(OpLists({.lower = hmp_lower, .float32 = hmp_float32}).name() == OpLists().name());
}

BOOST_AUTO_TEST_CASE(torch_amps_lists_are_torchs_name_by_name) {
  BOOST_TEST(OpLists({.lower = amp_lower, .float32 = amp_float32}).name() == OpLists::torch_amp().name());
  BOOST_CHECK_NO_THROW(OpLists({.lower = amp_promote}));
}

// HMP: an op of several equal inputs casts to the widest, an in-place one and all the rest to the first.
BOOST_AUTO_TEST_CASE(ops_that_follow_their_first_input_are_these) {
  const std::set<std::string> following{"bias_add",
                                        "iadd",
                                        "imul",
                                        "isub",
                                        "itruediv",
                                        "conv1d",
                                        "conv2d",
                                        "conv2d_input_gradient",
                                        "conv3d",
                                        "conv_transpose1d",
                                        "conv_transpose2d",
                                        "conv_transpose3d",
                                        "dropout1d",
                                        "dropout2d",
                                        "dropout3d",
                                        "group_norm",
                                        "instance_norm",
                                        "leaky_relu",
                                        "matmul",
                                        "batch_norm",
                                        "layer_norm",
                                        "recurrence",
                                        "scaled_dot_product_attention",
                                        "cached_attention"};
  for (const Op* op : registered_ops()) BOOST_TEST(op->cast.by_first == (following.count(op->name) > 0), op->name);
}

BOOST_AUTO_TEST_CASE(several_equal_inputs_meet_in_the_widest_and_products_follow_the_first) {
  const detail::PolicyScope trainer(nothing_listed);
  const Tensor narrow({2, 2}, DType::bfloat16), wide({2, 2}, DType::float32), mask({2, 2}, DType::boolean);
  const auto both = [&](const std::function<Value(const Value&, const Value&)>& op) {
    return std::string(dtype_name(op(narrow, wide).dtype())) + " " + dtype_name(op(wide, narrow).dtype());
  };
  const std::string widest = "float32 float32", first = "bfloat16 float32";
  BOOST_TEST(both([](const Value& a, const Value& b) { return a + b; }) == widest);
  BOOST_TEST(both([](const Value& a, const Value& b) { return a - b; }) == widest);
  BOOST_TEST(both([](const Value& a, const Value& b) { return a * b; }) == widest);
  BOOST_TEST(both([](const Value& a, const Value& b) { return a / b; }) == widest);
  BOOST_TEST(both([](const Value& a, const Value& b) { return concat({a, b}); }) == widest);
  BOOST_TEST(both([&](const Value& a, const Value& b) { return where(mask, a, b); }) == widest);
  BOOST_TEST(both([](const Value& a, const Value& b) { return matmul(a, b); }) == first);
}

// The lists take precedence over the rules of several inputs and of in-place ops.
BOOST_AUTO_TEST_CASE(lists_come_before_the_in_place_rule) {
  const detail::PolicyScope trainer(OpLists({.lower = Names{"add"}, .float32 = Names{"iadd"}}));
  Value x = Tensor({2}, DType::bfloat16);
  BOOST_TEST(dtype_name((x + Tensor({2}, DType::float32)).dtype()) == "bfloat16");
  x += Tensor({2}, DType::bfloat16);
  BOOST_TEST(dtype_name(x.dtype()) == "float32");
}

// Of the autocast that replaced HMP: norms cast their first argument alone.
BOOST_AUTO_TEST_CASE(listed_norms_keep_scale_and_offset_in_float32) {
  const detail::PolicyScope trainer{OpLists()};
  Trace trace(Trace::Mode::graph, true);
  BatchNormalization batch_norm;
  LayerNormalization layer_norm;
  layer_norm(batch_norm(trace.input("x", Spec{{2, 3}, DType::float32})));
  BOOST_TEST(operands_of(trace, "batch_norm") == "bfloat16 float32 float32 float32 float32");
  BOOST_TEST(operands_of(trace, "layer_norm") == "bfloat16 float32 float32");
}

BOOST_AUTO_TEST_CASE(layers_cast_nothing_in_whatever_policy_of_their_own) {
  const detail::PolicyScope trainer(nothing_listed);
  for (const char* own : {"", "float32", "bfloat16", "float64", "p=f32,c=bf16,o=f64"}) {
    Dense layer({.units = 2, .dtype = *own == '\0' ? Policy() : Policy(own)});
    BOOST_TEST(dtype_name(layer(Tensor({2, 3})).dtype()) == "float32", own);
    for (const Variable& weight : layer.weights()) BOOST_TEST(dtype_name(weight.dtype()) == "float32", own);
  }
}

BOOST_AUTO_TEST_SUITE_END()
