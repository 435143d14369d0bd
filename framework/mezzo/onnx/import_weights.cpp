#include <mezzo/onnx/import_weights.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>

namespace mezzo::detail {
namespace {

using Name = std::string;

constexpr std::int64_t most_constant = 4096;  // elements of floats that are kept as constants
constexpr std::int64_t most_others = 16384;   // the same for other dtypes; such arrays are never folded
constexpr std::size_t most_joined = 64;       // initializers whose elements one value is known to hold
constexpr double most_bias = 1e4;             // larger numbers are those of masks

bool is_any(const Name& op, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return op == name; });
}

bool moves_elements(const Name& op) {
  return is_any(op, {"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Cast", "Concat", "Slice", "Split",
                     "Flatten", "Expand", "Tile"});
}

/// True for operators behind which an addition is that of a bias, also of one element.
bool makes_products(const Name& op) {
  return is_any(op, {"MatMul", "Gemm", "Conv", "ConvTranspose", "Transpose", "Reshape"});
}

/// Adds the use as input i of an operator.
void add_use(OnnxUse& use, const Name& op, std::size_t i) {
  const bool convolves = is_any(op, {"Conv", "ConvTranspose"});
  const bool affine = i == 1 || i == 2;
  if (is_any(op, {"MatMul", "Gemm", "Einsum"})) use.weight = true;
  if (convolves && affine) use.weight = true;
  if (is_any(op, {"LSTM", "GRU", "RNN"}) && i >= 1 && i <= 3) use.weight = true;
  if (op == "Gather" && i == 0) use.weight = true;
  if (op == "PRelu" && i == 1) use.weight = true;
  if (is_any(op, {"BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization"})) {
    use.weight = use.weight || affine;
    use.wide = true;
    use.statistic = use.statistic || (op == "BatchNormalization" && i > 2);
  }
  use.instances = use.instances || op == "InstanceNormalization";
  use.added = use.added || op == "Add";
  use.multiplied = use.multiplied || op == "Mul";
  use.setting = use.setting || (is_any(op, {"Resize", "Upsample", "Pad", "Range", "OneHot"}) && i > 0);
}

/// True for arrays with one axis of several elements.
bool is_vector(const Shape& shape) {
  return std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size > 1; }) == 1;
}

/// True for numbers of a bias, in contrast to those of a mask.
bool like_bias(const Tensor& numbers) {
  const std::vector<double> all = numbers.to_doubles();
  return std::all_of(all.begin(), all.end(), [](double number) { return std::abs(number) <= most_bias; });
}

bool is_weight(const OnnxUse& use, const OnnxGraph::Initializer& one) {
  if (use.weight) return true;
  if (use.added && like_bias(*one.numbers)) return true;
  return use.multiplied && is_vector(one.shape);
}

std::optional<Pattern> pattern_of(const std::string& trainable, const std::string& where) {
  if (is_any(trainable, {"auto", "all", "none"})) return std::nullopt;
  try {
    return Pattern(trainable);
  } catch (const std::runtime_error& error) {
    fail<NameError>(where,
                    "trainable must be \"auto\", \"all\", \"none\" or a regular expression of names of weights; got "
                    "\"{}\" ({})",
                    trainable, error.what());
  }
}

}  // namespace

std::vector<OnnxUse> uses_of_initializers(const OnnxGraph& graph) {
  std::vector<OnnxUse> out(graph.initializers.size());
  std::vector<int> kernels(out.size()), reads(out.size());
  std::vector<bool> computed(out.size());
  std::map<std::size_t, std::set<std::size_t>> roots;  // initializers whose elements a value holds
  for (std::size_t i = 0; i < out.size(); ++i) roots[graph.initializers[i].place] = {i};
  std::set<std::size_t> products;
  for_each_onnx_node(graph.body, [&](const OnnxNode& node) {
    if (makes_products(node.op)) products.insert(node.outputs.begin(), node.outputs.end());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto found = roots.find(node.inputs[i]);
      if (found == roots.end()) continue;
      const std::set<std::size_t> held = found->second;
      for (const std::size_t root : held) {
        add_use(out[root], node.op, i);
        if (out[root].node == nullptr || (!computed[root] && !moves_elements(node.op))) out[root].node = &node;
        computed[root] = computed[root] || !moves_elements(node.op);
        const bool biased = node.op == "Add" && node.inputs.size() == 2 && products.count(node.inputs[1 - i]) > 0;
        if (biased && graph.initializers[root].shape.size() == 1) out[root].weight = true;
        const bool direct = node.inputs[i] == graph.initializers[root].place;
        kernels[root] += direct && i == 1 && is_any(node.op, {"Conv", "ConvTranspose"}) ? 1 : 0;
        reads[root] += 1;
        if (!moves_elements(node.op) || held.size() > most_joined) continue;
        for (const std::size_t output : node.outputs) {
          if (output != OnnxNode::absent) roots[output].insert(root);
        }
      }
    }
  });
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t place = graph.initializers[i].place;
    const bool returned = std::count(graph.body.outputs.begin(), graph.body.outputs.end(), place) > 0;
    out[i].kernel = reads[i] > 0 && kernels[i] == reads[i] && !returned && graph.initializers[i].shape.size() > 2;
  }
  return out;
}

OnnxWeights choose_onnx_weights(const OnnxGraph& graph, const std::string& trainable,
                                const std::set<std::string>& constants, const std::string& where) {
  const std::optional<Pattern> pattern = pattern_of(trainable, where);
  const std::vector<OnnxUse> uses = uses_of_initializers(graph);
  OnnxWeights out;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const OnnxGraph::Initializer& one = graph.initializers[i];
    const std::int64_t elements = element_count(one.shape);
    if (elements < 1 || !one.in_graph) continue;
    if (!is_floating(one.dtype)) {
      if (elements > most_others && !uses[i].setting) out.all.push_back(one.name);
      continue;
    }
    const bool several = elements > 1 && !uses[i].setting;
    const bool neutral = uses[i].instances && constants.count(one.name) > 0;
    const bool weight = !neutral && is_weight(uses[i], one) && (several || uses[i].weight);
    const bool trains = !uses[i].statistic && (pattern               ? (several || weight) && pattern->matches(one.name)
                                               : trainable == "auto" ? weight
                                               : trainable == "all"  ? several || weight
                                                                     : false);
    const bool large = elements > most_constant && !uses[i].setting;
    if (weight || trains || uses[i].statistic || large) out.all.push_back(one.name);
    if (trains) out.trainable.push_back(one.name);
  }
  if (pattern && out.trainable.empty()) {
    fail<NameError>(where, "trainable must match names of weights; \"{}\" matches none; names: {}", trainable,
                    fmt::join(out.all, ", "));
  }
  return out;
}

}  // namespace mezzo::detail
