#include <mezzo/onnx/load_onnx.hpp>

#include <filesystem>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/onnx/import_message.hpp>
#include <mezzo/onnx/import_model.hpp>
#include <mezzo/onnx/import_read.hpp>
#include <mezzo/onnx/import_weights.hpp>
#include <mezzo/onnx/onnx_file.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo {
namespace {

void register_class_of_models() {
  register_model<detail::OnnxModel, detail::OnnxModelOptions>(detail::onnx_model_class);
}

constexpr const char* load_label = "[load_onnx]";

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

Any<Model> load_graph(const std::string& path, const LoadOnnxOptions& options) {
  ::onnx::ModelProto message = detail::read_onnx_file(path, load_label);
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const std::set<std::string> constants = detail::move_onnx_constants(message);
  detail::separate_onnx_vectors(message);
  const detail::OnnxGraph graph = detail::read_onnx_graph(message, folder, false, load_label);
  const detail::OnnxWeights weights = detail::choose_onnx_weights(graph, options.trainable, constants, load_label);
  detail::strip_onnx_numbers(message, weights.all, folder, load_label);
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
  return model;
}

}  // namespace

Any<Model> load_onnx(const std::string& path, const LoadOnnxOptions& options) {
  try {
    return load_graph(path, options);
  } catch (const ValueError& error) {
    fail<FileError>(load_label, "{}", error.what());
  }
}

bool detail::register_onnx_models() { return set_onnx_registration(register_class_of_models); }

}  // namespace mezzo
