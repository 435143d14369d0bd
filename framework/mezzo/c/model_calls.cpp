// Loading, saving and descriptions of models.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include <mezzo/c/arrays.hpp>
#include <mezzo/c/model_handle.hpp>
#include <mezzo/c/versioned.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/version.hpp>
#include <mezzo/training/model/onnx_reader.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t least_load = offsetof(mezzo_load_options, workers) + sizeof(std::int32_t);
constexpr std::size_t least_save = offsetof(mezzo_save_options, no_compile) + sizeof(std::int32_t);
constexpr std::size_t least_info = offsetof(mezzo_tensor_info, shape) + sizeof(mezzo_tensor_info::shape);

/// Copy of options that may be NULL.
template <class Options>
Options options_of(const Options* given, const char* function, std::size_t least) {
  return given == nullptr ? Options{} : copy_of(given, function, "options", least);
}

bool is_onnx(const std::string& path) { return path.size() >= 5 && path.compare(path.size() - 5, 5, ".onnx") == 0; }

std::unique_ptr<mezzo_model> read_model(const std::string& path, const LoadModelOptions& options) {
  if (!is_onnx(path)) return std::make_unique<mezzo_model>(load_model(path, options));
  if (onnx_reader() == nullptr) {
    fail<FileError>("[mezzo_load]",
                    "ONNX files need libmezzo_onnx in the process, linked or loaded before; got \"{}\" without it",
                    path);
  }
  OnnxRead read = onnx_reader()(path, options);
  return std::make_unique<mezzo_model>(std::move(read.model), std::move(read.inputs));
}

const std::vector<Port>& known(const std::vector<Port>& ports, const mezzo_model& model, const char* function) {
  if (!model.signature.unknown.empty()) {
    fail<ValueError>(fmt::format("[{}]", function), "inputs and outputs must be known before a call; got: {}",
                     model.signature.unknown);
  }
  return ports;
}

void describe(const std::vector<Port>& ports, std::size_t index, mezzo_tensor_info* info, const char* function) {
  const std::size_t size = size_of(info, function, "info", least_info);
  if (index >= ports.size()) {
    throw StatusError{MEZZO_ERROR_ARGUMENT,
                      fmt::format("[{}] index must be below {}; got {}", function, ports.size(), index)};
  }
  const Port& port = ports[index];
  const Shape& shape = port.spec.shape;
  if (shape.size() > MEZZO_MAX_RANK) {
    fail<ShapeError>(fmt::format("[{}]", function), "rank must be at most {}; got shape {}",
                     static_cast<int>(MEZZO_MAX_RANK), shape);
  }
  mezzo_tensor_info out{};
  out.name = port.name.c_str();
  out.dtype = c_dtype_of(port.spec.dtype);
  out.rank = static_cast<std::int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), out.shape);
  write_result(out, info, size);
}

mezzo_status load(const char* path, const mezzo_load_options* options, mezzo_model** model) {
  return guarded([&] {
    require_pointer(model, "mezzo_load", "model");
    *model = nullptr;
    require_pointer(path, "mezzo_load", "path");
    const auto given = options_of(options, "mezzo_load", least_load);
    LoadModelOptions load{.compile = given.no_compile == 0};
    if (given.precision != nullptr) load.dtype = Policy(std::string(given.precision));
    if (given.workers < 0) {
      throw StatusError{MEZZO_ERROR_ARGUMENT,
                        fmt::format("[mezzo_load] options: workers must be at least 0; got {}", given.workers)};
    }
    std::unique_ptr<mezzo_model> loaded = read_model(path, load);
    loaded->predictions.workers = std::max(given.workers, 1);
    *model = loaded.release();
  });
}

mezzo_status save(mezzo_model* model, const char* path, const mezzo_save_options* options) {
  return guarded([&] {
    require_pointer(model, "mezzo_save", "model");
    require_pointer(path, "mezzo_save", "path");
    const auto given = options_of(options, "mezzo_save", least_save);
    const std::lock_guard<std::mutex> lock(model->mutex);
    model->model->save(path, {.overwrite = given.no_overwrite == 0, .compile = given.no_compile == 0});
  });
}

mezzo_status count(const mezzo_model* model, std::size_t* out, std::vector<Port> Signature::*ports,
                   const char* function) {
  return guarded([&] {
    require_pointer(model, function, "model");
    require_pointer(out, function, "count");
    *out = known(model->signature.*ports, *model, function).size();
  });
}

mezzo_status info(const mezzo_model* model, std::size_t index, mezzo_tensor_info* out,
                  std::vector<Port> Signature::*ports, const char* function) {
  return guarded([&] {
    require_pointer(model, function, "model");
    require_pointer(out, function, "info");
    describe(known(model->signature.*ports, *model, function), index, out, function);
  });
}

}  // namespace
}  // namespace mezzo::detail

using mezzo::detail::Signature;

const char* mezzo_version(void) { return mezzo::version(); }

int32_t mezzo_abi_version(void) { return MEZZO_ABI_VERSION; }

const char* mezzo_last_error(void) { return mezzo::detail::last_error(); }

mezzo_status mezzo_load(const char* path, const mezzo_load_options* options, mezzo_model** model) {
  return mezzo::detail::load(path, options, model);
}

void mezzo_free(mezzo_model* model) { delete model; }

mezzo_status mezzo_input_count(const mezzo_model* model, size_t* count) {
  return mezzo::detail::count(model, count, &Signature::inputs, "mezzo_input_count");
}

mezzo_status mezzo_output_count(const mezzo_model* model, size_t* count) {
  return mezzo::detail::count(model, count, &Signature::outputs, "mezzo_output_count");
}

mezzo_status mezzo_input_info(const mezzo_model* model, size_t index, mezzo_tensor_info* info) {
  return mezzo::detail::info(model, index, info, &Signature::inputs, "mezzo_input_info");
}

mezzo_status mezzo_output_info(const mezzo_model* model, size_t index, mezzo_tensor_info* info) {
  return mezzo::detail::info(model, index, info, &Signature::outputs, "mezzo_output_info");
}

mezzo_status mezzo_save(mezzo_model* model, const char* path, const mezzo_save_options* options) {
  return mezzo::detail::save(model, path, options);
}
