// Training with the example op lists of Habana, and the log of casts.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/models/bert.hpp>
#include <mezzo/models/resnet.hpp>

#include "models/small.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Op lists read from files, as with Habana's HMP.
OpLists lists_of(const std::string& lower, const std::string& float32, DType dtype, bool verbose = false) {
  const Folder folder;
  const auto file = [&](const std::string& name, const std::string& ops) {
    return folder.write(name, {ops.begin(), ops.end()});
  };
  return OpLists({.dtype = dtype,
                  .lower_file = file("lower.txt", lower),
                  .float32_file = file("float32.txt", float32),
                  .verbose = verbose});
}

constexpr const char* resnet_lower = R"(# products and what goes along with them
addmm
avg_pool2d
bmm
conv2d
dot
max_pool2d
mm
mv
relu
t
linear
)";
constexpr const char* resnet_float32 = "cross_entropy\nlog_softmax\nnll_loss\nsoftmax\ntopk\n";
constexpr const char* bert_lower =
    "add\naddmm\nbmm\ndropout\ngelu\niadd\nlinear\nlayer_norm\nmatmul\nmm\nrsub\nsoftmax\n";
constexpr const char* bert_float32 = "embedding\ncross_entropy\nnll_loss\nlog_softmax\ntruediv\ndiv\n";

/// Losses of 25 steps on one batch. Checks that all weights stay float32.
template <class M>
std::vector<double> train(M& model, const Tensor& x, const Tensor& y, const OpLists& lists, double learning_rate) {
  model.compile({.optimizer = Adam({.learning_rate = learning_rate}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Dataset data = Dataset::from_tensors({{"x", x}, {"y", y, Role::target}});
  const History history = Trainer({.max_epochs = 25, .precision = lists, .enable_progress_bar = false})
                              .fit(model, DataLoader(data, {.batch_size = x.shape()[0]}));
  for (const auto& [path, weight] : model.named_weights()) BOOST_TEST(dtype_name(weight.dtype()) == "float32", path);
  return history.history.at("loss");
}

/// Dtypes of the first outputs of each op of the forward pass.
std::map<std::string, std::set<std::string>> dtypes_of(Layer& model, const Spec& input, const OpLists& lists) {
  Trace trace(Trace::Mode::graph, true);
  const detail::PolicyScope trainer(lists);
  model(trace.input("x", input));
  std::map<std::string, std::set<std::string>> out;
  for (const detail::NodePtr& node : trace.graph().nodes)
    out[node->op->name].insert(dtype_name(node->outputs[0].dtype));
  return out;
}

const std::set<std::string> float32{"float32"};

/// First loss of a step that loss scaling didn't skip.
double first_of(const std::vector<double>& losses) {
  return *std::find_if(losses.begin(), losses.end(), [](double loss) { return std::isfinite(loss); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(op_list_training)

BOOST_AUTO_TEST_CASE(habanas_resnet_lists_on_resnet18) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const OpLists lists = lists_of(resnet_lower, resnet_float32, dtype);
    ResNet model = resnet18({.classes = 4});
    const Tensor labels({4}, std::vector<std::int64_t>{3, 1, 0, 2});
    const auto losses = train(model, random_tensor({4, 32, 32, 3}), labels, lists, 1e-3);
    BOOST_TEST(losses.back() < first_of(losses) / 2, dtype_name(dtype));
    auto dtypes = dtypes_of(model, {{4, 32, 32, 3}, DType::float32}, lists);
    const std::set<std::string> lower{dtype_name(dtype)};
    for (const char* op : {"conv2d", "relu", "max_pool2d", "matmul", "batch_norm", "add"}) {
      BOOST_TEST((dtypes[op] == lower), op);  // the last two aren't listed and follow their inputs
    }
  }
}

BOOST_AUTO_TEST_CASE(habanas_bert_lists_on_bert) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const OpLists lists = lists_of(bert_lower, bert_float32, dtype);
    BertForSequenceClassification model({.bert = small_bert()});
    std::vector<std::int64_t> ids(28);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 1 + 5 * static_cast<std::int64_t>(i) % 18;
    const auto losses = train(model, Tensor({4, 7}, ids).cast(DType::int32),
                              Tensor({4}, std::vector<std::int64_t>{1, 0, 0, 1}), lists, 1e-2);
    BOOST_TEST(losses.back() < first_of(losses) / 2, dtype_name(dtype));
    auto dtypes = dtypes_of(model, {{4, 7}, DType::int32}, lists);
    const std::set<std::string> lower{dtype_name(dtype)};
    for (const char* op : {"matmul", "layer_norm", "gelu", "scaled_dot_product_attention", "add"}) {
      BOOST_TEST((dtypes[op] == lower), op);
    }
    BOOST_TEST((dtypes["gather"] == float32));
  }
}

BOOST_AUTO_TEST_CASE(the_log_of_casts_is_this) {
  Sequential model({Conv2D({.filters = 2, .kernel_size = 3, .activation = "relu"}), BatchNormalization(), Flatten(),
                    Dense({.units = 3}), Softmax()});
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = SparseCategoricalCrossentropy()});
  const Dataset data = Dataset::from_tensors(
      {{"x", random_tensor({2, 4, 4, 1})}, {"y", Tensor({2}, std::vector<std::int64_t>{2, 0}), Role::target}});
  const CapturedOutput output;
  Trainer({.max_epochs = 2, .precision = OpLists({.verbose = true}), .enable_progress_bar = false})
      .fit(model, DataLoader(data, {.batch_size = 2}));
  BOOST_TEST(output.text() ==
             "[OpLists] conv2d in conv2d: float32 -> bfloat16\n"      // the image and the kernel
             "[OpLists] bias_add in conv2d: float32 -> bfloat16\n"    // the bias follows
             "[OpLists] matmul in dense: float32 -> bfloat16\n"       // the kernel
             "[OpLists] bias_add in dense: float32 -> bfloat16\n"     // the bias follows
             "[OpLists] softmax in softmax: bfloat16 -> float32\n");  // listed in float32
}

BOOST_AUTO_TEST_CASE(lists_of_a_trainer_come_before_policies_of_layers) {
  for (const char* own : {"float32", "bfloat16", "float64", "mixed_float16"}) {
    for (const bool built : {false, true}) {
      BOOST_TEST_CONTEXT(own << built) {
        Sequential model({Dense({.units = 2, .use_bias = false, .dtype = own})});
        if (built) model(Value(Tensor({1, 3})));
        model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
        const Dataset data = Dataset::from_tensors({{"x", random_tensor({2, 3})}, {"y", Tensor({2, 2}), Role::target}});
        const CapturedOutput output;
        Trainer({.max_epochs = 1, .precision = OpLists({.verbose = true}), .enable_progress_bar = false})
            .fit(model, DataLoader(data, {.batch_size = 2}));
        BOOST_TEST(output.text() == "[OpLists] matmul in dense: float32 -> bfloat16\n");
      }
    }
  }
}

// Losses and sample weights are float32 under every policy: 257 would round to 256 in bfloat16.
BOOST_AUTO_TEST_CASE(lists_do_not_reach_the_loss_of_a_compiled_model) {
  Sequential model({Dense({.units = 1})});
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mae"});
  const Dataset data = Dataset::from_tensors({{"x", Tensor({1, 1})},
                                              {"y", Tensor({1, 1}, std::vector<float>{257}), Role::target},
                                              {"w", Tensor({1}, std::vector<float>{1}), Role::weight}});
  const OpLists lists({.lower = std::vector<std::string>{"sub", "mul", "abs", "mean", "matmul"}});
  const Trainer trainer({.max_epochs = 1, .precision = lists, .enable_progress_bar = false});
  BOOST_TEST(trainer.fit(model, DataLoader(data)).history.at("loss").at(0) == 257);
}

BOOST_AUTO_TEST_CASE(torch_amps_lists_train_too) {
  Sequential model({Dense({.units = 8, .activation = "relu"}), Dense({.units = 3})});
  const auto losses = train(model, random_tensor({6, 5}), Tensor({6}, std::vector<std::int64_t>{0, 1, 2, 0, 1, 2}),
                            OpLists::torch_amp(), 0.05);
  BOOST_TEST(losses.back() < losses.front() / 2);
}

BOOST_AUTO_TEST_SUITE_END()
