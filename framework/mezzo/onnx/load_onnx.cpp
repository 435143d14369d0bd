#include <mezzo/onnx/load_onnx.hpp>

#include <filesystem>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/onnx/import_batch.hpp>
#include <mezzo/onnx/import_cut.hpp>
#include <mezzo/onnx/import_message.hpp>
#include <mezzo/onnx/import_model.hpp>
#include <mezzo/onnx/import_read.hpp>
#include <mezzo/onnx/import_weights.hpp>
#include <mezzo/onnx/onnx_file.hpp>
#include <mezzo/training/model/onnx_reader.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo {
namespace {

void register_class_of_models() {
  register_model<detail::OnnxModel, detail::OnnxModelOptions>(detail::onnx_model_class);
}

/// Policy of the model: float64 for a file whose inputs are float64, unless another policy was chosen.
Policy policy_of(const detail::OnnxGraph& graph, const Policy& given) {
  if (!given.inherits() || dtype_policy().name() != "float32") return given;
  bool any = false;
  for (const detail::OnnxGraph::Input& input : graph.inputs) {
    if (!input.dtype || !is_floating(*input.dtype)) continue;
    if (*input.dtype != DType::float64) return given;
    any = true;
  }
  return any ? Policy("float64") : given;
}

Any<Model> load_graph(const std::string& path, const LoadOnnxOptions& options, const std::string& where) {
  ::onnx::ModelProto message = detail::read_onnx_file(path, where);
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const std::set<std::string> constants = detail::move_onnx_constants(message);
  detail::separate_onnx_vectors(message);
  detail::cut_onnx_graph(message, options.outputs, where);
  const std::int64_t batch = options.dynamic_batch ? detail::open_onnx_batch(message, folder, where) : -1;
  const detail::OnnxGraph graph = detail::read_onnx_graph(message, folder, false, where);
  const detail::OnnxWeights weights = detail::choose_onnx_weights(graph, options.trainable, constants, where);
  detail::strip_onnx_numbers(message, weights.all, folder, where);
  detail::OnnxModelOptions made{.graph = detail::onnx_message_text(message),
                                .weights = weights.all,
                                .trained = weights.trainable,
                                .name = options.name,
                                .dtype = policy_of(graph, options.dtype)};
  message = {};
  register_class_of_models();
  detail::OnnxModel model(made);
  for (const detail::OnnxGraph::Initializer& one : graph.initializers) {
    if (one.in_graph && one.numbers) model.assign(one.name, *one.numbers);
  }
  if (batch > 0) model.require_any_batch(batch);
  return model;
}

detail::OnnxRead read_with_inputs(const std::string& path, const LoadModelOptions& options) {
  detail::OnnxRead out{load_onnx(path, {.dtype = options.dtype}), {}};
  out.inputs = static_cast<const detail::OnnxModel&>(*out.model).declared_inputs();
  return out;
}

}  // namespace

Any<Model> load_onnx(const std::string& path, const LoadOnnxOptions& options) {
  const std::string where = fmt::format("[load_onnx \"{}\"]", path);
  try {
    return load_graph(path, options, where);
  } catch (const ValueError& error) {
    const std::string text = error.what();
    fail<FileError>(text.rfind(where, 0) == 0 ? "" : where, "{}", text);
  }
}

bool detail::register_onnx_models() {
  return set_onnx_registration(register_class_of_models) && set_onnx_reader(read_with_inputs);
}

}  // namespace mezzo
