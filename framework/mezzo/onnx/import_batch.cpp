#include <mezzo/onnx/import_batch.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/onnx/import_nodes.hpp>
#include <mezzo/onnx/import_tensors.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* batch_symbol = "batch";
constexpr int most_axes = 64;  // of a shape that is rewritten
constexpr std::int64_t largest_batch = std::int64_t{1} << 20U;

/// First axis of an input; null if it has none.
::onnx::TensorShapeProto::Dimension* first_axis(::onnx::ValueInfoProto& input) {
  if (!input.type().has_tensor_type() || input.type().tensor_type().shape().dim_size() == 0) return nullptr;
  return input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0);
}

/// The shape for any batch; none if it doesn't begin with the batch.
std::optional<std::vector<std::int64_t>> opened(std::vector<std::int64_t> shape, std::int64_t batch, bool zero_copies) {
  if (shape.empty() || shape[0] != batch) return std::nullopt;
  const bool free = std::count(shape.begin(), shape.end(), -1) == 0;
  if (!free && !zero_copies) return std::nullopt;
  shape[0] = free ? -1 : 0;
  return shape;
}

/// Names of a graph while its batch is opened.
class BatchOpener {
 public:
  BatchOpener(::onnx::GraphProto& graph, std::int64_t batch, const std::string& folder, const std::string& where)
      : graph_(graph), batch_(batch), folder_(folder), where_(where) {
    for (int i = 0; i < graph.initializer_size(); ++i) {
      const auto& tensor = graph.initializer(i);
      names_.insert(tensor.name());
      const bool shape = tensor.data_type() == ::onnx::TensorProto::INT64 && tensor.dims_size() == 1 &&
                         tensor.dims(0) > 0 && tensor.dims(0) <= most_axes;
      if (shape) shapes_.emplace(tensor.name(), i);
    }
    for (const auto& node : graph.node()) names_.insert(node.output().begin(), node.output().end());
    for (const auto& input : graph.input()) {
      if (names_.insert(input.name()).second) depends_.insert(input.name());
    }
  }

  void open() {
    for (auto& node : *graph_.mutable_node()) {
      OnnxNames read(node.input().begin(), node.input().end());
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) add_onnx_names_read(attribute.g(), read);
      }
      const bool depends =
          std::any_of(read.begin(), read.end(), [&](const std::string& name) { return depends_.count(name) > 0; });
      if (!depends) continue;
      depends_.insert(node.output().begin(), node.output().end());
      if (node.op_type() == "Reshape" && node.input_size() > 0 && depends_.count(node.input(0)) > 0) reshape(node);
    }
  }

 private:
  void reshape(::onnx::NodeProto& node) {
    bool zero_copies = true;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.name() == "allowzero") zero_copies = attribute.i() == 0;
      if (attribute.name() != "shape") continue;  // of opset 1
      const auto shape = opened({attribute.ints().begin(), attribute.ints().end()}, batch_, zero_copies);
      if (shape) attribute.set_ints(0, (*shape)[0]);
    }
    if (node.input_size() < 2) return;
    const auto found = shapes_.find(node.input(1));
    if (found == shapes_.end()) return;
    const Tensor numbers = read_onnx_tensor(graph_.initializer(found->second), folder_, where_);
    const auto* const begin = numbers.data<std::int64_t>();
    const auto shape = opened({begin, begin + numbers.size()}, batch_, zero_copies);
    if (shape) node.set_input(1, added(node.input(1), *shape));
  }

  /// Adds a shape as an initializer with a name like that one.
  std::string added(const std::string& name, const std::vector<std::int64_t>& shape) {
    std::string unique = name + "_" + batch_symbol;
    while (!names_.insert(unique).second) unique += "_";
    ::onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(unique);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(shape.size()));
    for (const std::int64_t size : shape) tensor.add_int64_data(size);
    return unique;
  }

  ::onnx::GraphProto& graph_;
  std::int64_t batch_;
  const std::string& folder_;
  const std::string& where_;
  OnnxNames names_, depends_;          // all values; those that depend on inputs
  std::map<std::string, int> shapes_;  // initializers that may be shapes
};

}  // namespace

std::int64_t open_onnx_batch(::onnx::ModelProto& model, const std::string& folder, const std::string& where) {
  ::onnx::GraphProto& graph = *model.mutable_graph();
  OnnxNames arrays;
  for (const auto& tensor : graph.initializer()) arrays.insert(tensor.name());
  std::optional<std::int64_t> batch;
  for (auto& input : *graph.mutable_input()) {
    auto* const axis = first_axis(input);
    if (axis == nullptr || arrays.count(input.name()) > 0) continue;
    if (!batch) batch = axis->has_dim_value() && axis->dim_value() > 0 ? axis->dim_value() : -1;
    if (*batch < 0) return -1;
    if (axis->has_dim_value() && axis->dim_value() == *batch) axis->set_dim_param(batch_symbol);
  }
  if (!batch) fail<ValueError>(where, "dynamic_batch needs an input with axes; the graph has none");
  if (*batch > largest_batch) {
    fail<ValueError>(where, "dynamic_batch: the file's batch must have at most {} samples; got {}", largest_batch,
                     *batch);
  }
  BatchOpener(graph, *batch, folder, where).open();
  return *batch;
}

}  // namespace mezzo::detail
