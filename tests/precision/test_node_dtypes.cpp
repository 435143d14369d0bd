// The dtype of every node of a training step, up to its gradients, under every named policy.
#include <boost/test/unit_test.hpp>

#include <regex>

#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace {

constexpr const char* policies[] = {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16", "float16", "float64"};

struct BlockOptions {
  std::string name{};
  Policy dtype{};
};

/// A transformer block with its embedding.
class Block : public Layer {
 public:
  explicit Block(const BlockOptions& options) : Layer("Block", options) {}

 protected:
  Value call(const Value& x) override {
    const Value y = embedding_(x);
    const Value normed = norm1_(y);
    const Value z = y + attention_(normed, normed);
    return z + second_(drop_(first_(norm2_(z))));
  }

 private:
  Embedding embedding_ = sub("embedding", Embedding({.input_dim = 7, .output_dim = 4}));
  LayerNormalization norm1_ = sub("norm1", LayerNormalization());
  MultiHeadAttention attention_ = sub("attention", MultiHeadAttention({.num_heads = 2, .key_dim = 2}));
  LayerNormalization norm2_ = sub("norm2", LayerNormalization());
  Dense first_ = sub("first", Dense({.units = 6, .activation = "gelu"}));
  Dropout drop_ = sub("drop", Dropout({.rate = 0.5}));
  Dense second_ = sub("second", Dense({.units = 4}));
};

std::string text_of(const detail::Node& node) {
  std::string text = node.op->name;
  if (text == "cast") return text + " " + dtype_name(node.inputs[0].dtype()) + ">" + dtype_name(node.outputs[0].dtype);
  for (const Spec& spec : node.outputs) text += std::string(" ") + dtype_name(spec.dtype);
  return text;
}

/// `path: op dtypes, op dtypes`: a line for each run of nodes of one layer.
std::string nodes_of(Layer& model, const Spec& input, const Spec& labels) {
  Trace trace(Trace::Mode::graph, true);
  const Value logits = model(trace.input("x", input));
  const Value losses = SparseCategoricalCrossentropy({.from_logits = true}).call(trace.input("y", labels), logits);
  Values leaves;
  for (const detail::NodePtr& node : trace.graph().nodes) {
    if (node->variable && node->variable->trainable) leaves.emplace_back(node, 0);
  }
  gradients(mean(losses), leaves);
  std::string text, path = "none";
  for (const detail::NodePtr& node : trace.graph().nodes) {
    text += node->path == path ? ", " : "\n" + node->path + ": ";
    text += text_of(*node);
    path = node->path;
  }
  return text + "\n";
}

/// The table for one policy: C, V and A stand for its compute, variable and accumulation dtype; a cast between equal
/// dtypes is none.
std::string table_for(std::string table, const Policy& policy) {
  const std::pair<const char*, DType> letters[] = {
      {"C", policy.compute_dtype()}, {"V", policy.variable_dtype()}, {"A", accumulation_dtype(policy.compute_dtype())}};
  table = std::regex_replace(table, std::regex(",\n *"), ", ");
  for (const auto& letter : letters) {
    table = std::regex_replace(table, std::regex(std::string("\\b") + letter.first + "\\b"), dtype_name(letter.second));
  }
  table = std::regex_replace(table, std::regex(", cast (\\w+)>\\1\\b"), "");
  table = std::regex_replace(table, std::regex("cast (\\w+)>\\1, "), "");
  return table;
}

const char* const cnn_table = R"(
: input float32, variable V
conv2d: cast float32>C, cast V>C, conv2d C
: variable V
conv2d: cast V>C, add C, relu C
: variable A, variable A, variable A, variable A
batch_normalization: batch_norm C A A A A
max_pooling2d: max_pool2d C uint8
flatten: reshape C
: runtime float64, runtime float64
dropout: dropout C
: variable V
dense: cast V>C, matmul C
: variable V
dense: cast V>C, add C
: input int64, sparse_categorical_crossentropy A, mean A, constant float64, cast float64>A, constant A,
    multiply A, reshape A, broadcast_to A, sparse_categorical_crossentropy_gradient C
dense: sum V, matmul C, matmul V
dropout: dropout C
flatten: reshape C
max_pooling2d: max_pool2d_gradient C
batch_normalization: batch_norm_gradient C A A
conv2d: relu_gradient C, sum V, conv2d_kernel_gradient V
)";

const char* const block_table = R"(
: input int32, variable V
embedding: gather V, cast V>C
: variable A, variable A
norm1: layer_norm C A A
: variable V
attention/query: cast V>C, reshape C, matmul C
: variable V
attention/query: cast V>C, reshape C, add C, reshape C
: variable V
attention/key: cast V>C, reshape C, matmul C
: variable V
attention/key: cast V>C, reshape C, add C, reshape C
: variable V
attention/value: cast V>C, reshape C, matmul C
: variable V
attention/value: cast V>C, reshape C, add C, reshape C
attention: scaled_dot_product_attention C A
attention/attention_output: reshape C
: variable V
attention/attention_output: cast V>C, reshape C, matmul C
: variable V
attention/attention_output: cast V>C, reshape C, add C
: add C, variable A, variable A
norm2: layer_norm C A A
: variable V
first: cast V>C, matmul C
: variable V
first: cast V>C, add C, gelu C
: runtime float64, runtime float64
drop: dropout C
: variable V
second: cast V>C, matmul C
: variable V
second: cast V>C, add C
: add C, input int64, sparse_categorical_crossentropy A, mean A, constant float64, cast float64>A, constant A,
    multiply A, reshape A, broadcast_to A, sparse_categorical_crossentropy_gradient C
second: sum V, matmul C, reshape C, reshape C, matmul V
drop: dropout C
first: gelu_gradient C, sum V, matmul C, reshape C, reshape C, matmul V
norm2: layer_norm_gradient C A A, add C
attention/attention_output: sum V, reshape V, matmul C, reshape C, reshape C, matmul V, reshape V, reshape C
attention: scaled_dot_product_attention_gradient C C C
attention/value: reshape C, sum V, reshape V, matmul C, reshape C, reshape C, matmul V, reshape V
attention/key: reshape C, sum V, reshape V, matmul C, reshape C, reshape C, matmul V, add C, reshape V
attention/query: reshape C, sum V, reshape V, matmul C, reshape C, reshape C, matmul V, add C, reshape V
norm1: layer_norm_gradient C A A, add C
embedding: cast C>V, gather_gradient V
)";

}  // namespace

BOOST_AUTO_TEST_SUITE(node_dtypes)

BOOST_AUTO_TEST_CASE(of_a_cnn) {
  for (const char* policy : policies) {
    Sequential cnn({Conv2D({.filters = 3, .kernel_size = 3, .activation = "relu"}), BatchNormalization(),
                    MaxPooling2D(), Flatten(), Dropout({.rate = 0.5}), Dense({.units = 3})},
                   {.dtype = policy});
    const std::string nodes = nodes_of(cnn, {{2, 6, 6, 2}, DType::float32}, {{2}, DType::int64});
    BOOST_TEST(nodes == table_for(cnn_table, policy), policy << nodes << table_for(cnn_table, policy));
  }
}

BOOST_AUTO_TEST_CASE(of_a_transformer_block) {
  for (const char* policy : policies) {
    Block block({.dtype = policy});
    const std::string nodes = nodes_of(block, {{2, 5}, DType::int32}, {{2, 5}, DType::int64});
    BOOST_TEST(nodes == table_for(block_table, policy), policy << nodes << table_for(block_table, policy));
  }
}

BOOST_AUTO_TEST_SUITE_END()
