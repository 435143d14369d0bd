#include <mezzo/onnx/export_graph.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t shared_bytes = 256;  // largest constant that is compared with others

/// Operators whose first operand may be bfloat16 from opset 17 on.
constexpr std::array bfloat16_operators{std::string_view("Abs"),
                                        std::string_view("Add"),
                                        std::string_view("Cast"),
                                        std::string_view("Ceil"),
                                        std::string_view("Concat"),
                                        std::string_view("Div"),
                                        std::string_view("Equal"),
                                        std::string_view("Erf"),
                                        std::string_view("Exp"),
                                        std::string_view("Expand"),
                                        std::string_view("Floor"),
                                        std::string_view("Gather"),
                                        std::string_view("Identity"),
                                        std::string_view("Less"),
                                        std::string_view("LessOrEqual"),
                                        std::string_view("Log"),
                                        std::string_view("LogSoftmax"),
                                        std::string_view("MatMul"),
                                        std::string_view("Max"),
                                        std::string_view("Min"),
                                        std::string_view("Mul"),
                                        std::string_view("Neg"),
                                        std::string_view("Pad"),
                                        std::string_view("Pow"),
                                        std::string_view("Reciprocal"),
                                        std::string_view("ReduceMax"),
                                        std::string_view("ReduceMean"),
                                        std::string_view("ReduceMin"),
                                        std::string_view("ReduceProd"),
                                        std::string_view("ReduceSum"),
                                        std::string_view("Relu"),
                                        std::string_view("Reshape"),
                                        std::string_view("Scan"),
                                        std::string_view("Shape"),
                                        std::string_view("Sigmoid"),
                                        std::string_view("Sign"),
                                        std::string_view("Slice"),
                                        std::string_view("Softmax"),
                                        std::string_view("Split"),
                                        std::string_view("Sqrt"),
                                        std::string_view("Squeeze"),
                                        std::string_view("Sub"),
                                        std::string_view("Tanh"),
                                        std::string_view("Transpose"),
                                        std::string_view("Unsqueeze"),
                                        std::string_view("Where"),
                                        std::string_view("GatherElements"),
                                        std::string_view("GatherND")};

bool takes_bfloat16(const std::string& op) {
  return std::find(bfloat16_operators.begin(), bfloat16_operators.end(), op) != bfloat16_operators.end();
}

}  // namespace

void visit_bodies(const ExportNode& node, const std::function<void(const ExportNode&)>& visit) {
  for (const ExportAttribute& attribute : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const ExportBody>>(&attribute.value);
    if (body == nullptr) continue;
    for (const ExportNode& inner : (*body)->nodes) visit(inner);
  }
}

DType ExportGraph::written(DType dtype) const {
  return wide_ && (dtype == DType::bfloat16 || dtype == DType::float16) ? DType::float32 : dtype;
}

DType ExportGraph::dtype(const std::string& name) const {
  const auto found = dtypes_.find(name);
  if (found == dtypes_.end()) fail<ValueError>("[export_onnx]", "no value has the name \"{}\"", name);
  return found->second;
}

std::string ExportGraph::unique(const std::string& name) {
  std::string candidate = name;
  for (int i = 1; !used_.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

std::string ExportGraph::add(const std::string& op, const ExportNames& inputs, const ExportAttributes& attributes) {
  return add_as(dtype(inputs.at(0)), op, inputs, attributes);
}

std::string ExportGraph::add_as(DType dtype, const std::string& op, const ExportNames& inputs,
                                const ExportAttributes& attributes) {
  return add_many(op, inputs, attributes, {dtype}).front();
}

ExportNames ExportGraph::narrow_to_float32(const std::string& op, const ExportNames& inputs) {
  if (takes_bfloat16(op)) return inputs;
  ExportNames out;
  for (const std::string& input : inputs) {
    const bool narrow = !input.empty() && dtype(input) == DType::bfloat16;
    out.push_back(narrow ? cast(input, DType::float32) : input);
  }
  return out;
}

ExportNames ExportGraph::add_many(const std::string& op, const ExportNames& inputs, const ExportAttributes& attributes,
                                  const std::vector<DType>& dtypes) {
  const ExportNames taken = narrow_to_float32(op, inputs);
  const bool widened = taken != inputs;
  ExportNode node{.op = op, .inputs = taken, .outputs = {}, .attributes = attributes};
  for (const DType dtype : dtypes) {
    node.outputs.push_back(unique(path_.empty() ? op : path_ + "/" + op));
    dtypes_[node.outputs.back()] = widened && dtype == DType::bfloat16 ? DType::float32 : dtype;
  }
  ExportNames outputs = node.outputs;
  nodes.push_back(std::move(node));
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = cast(outputs[i], dtypes[i]);
  return outputs;
}

std::string ExportGraph::cast(const std::string& x, DType dtype) {
  if (this->dtype(x) == dtype) return x;
  return add_as(dtype, "Cast", {x}, {{"to", dtype}});
}

std::string ExportGraph::constant(const Tensor& value) {
  const Tensor kept = value.cast(written(value.dtype()));
  std::string key;
  if (kept.bytes() <= shared_bytes) {
    key = fmt::format("{} {} ", dtype_name(kept.dtype()), kept.shape());
    key.append(static_cast<const char*>(kept.raw()), kept.bytes());
    const auto found = shared_.find(key);
    if (found != shared_.end()) return found->second;
  }
  std::string name = weight("constant", kept);
  if (!key.empty()) shared_[key] = name;
  return name;
}

std::string ExportGraph::weight(const std::string& name, const Tensor& value) {
  std::string given = unique(name);
  const Tensor kept = value.cast(written(value.dtype()));
  dtypes_[given] = kept.dtype();
  places_[given] = arrays.size();
  arrays.emplace_back(given, kept);
  return given;
}

void ExportGraph::keep_arrays(const std::set<std::string>& names) {
  arrays.erase(
      std::remove_if(arrays.begin(), arrays.end(), [&](const auto& array) { return names.count(array.first) == 0; }),
      arrays.end());
  places_.clear();
  for (std::size_t i = 0; i < arrays.size(); ++i) places_[arrays[i].first] = i;
}

const Tensor* ExportGraph::array(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &arrays[found->second].second;
}

std::vector<ExportNode> ExportGraph::finish_body() {
  std::vector<ExportNode> body = std::exchange(nodes, std::move(outer_.back()));
  outer_.pop_back();
  return body;
}

}  // namespace mezzo::detail
