#include <mezzo/training/keras_files/operation_layer.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/saved_class.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/training/keras_files/keras_operations.hpp>
#include <mezzo/training/model/keras_model_files.hpp>

namespace mezzo::detail {

void describe(Fields& fields, OperationLayerOptions& options) {
  fields("operation", options.operation);
  fields("options", options.options);
}

OperationLayer::OperationLayer(const OperationLayerOptions& options)
    : Layer("Operation", options),
      operation_(options.operation),
      options_(parse_config(options.options, fmt::format("[{}]", options.operation))) {
  if (find_keras_operation(operation_) == nullptr) {
    fail<ValueError>(label(), "operation must be one of keras.ops that mezzo reads; got \"{}\"", operation_);
  }
}

Values OperationLayer::call_many(const Values& xs) {
  const KerasOperation& operation = *find_keras_operation(operation_);
  const std::string where = fmt::format("[{} \"{}\"]", operation_, name());
  if (xs.size() < operation.inputs) {
    fail<ValueError>(where, "takes {} inputs; got {}", operation.inputs, xs.size());
  }
  for (const Value& x : xs) {
    const Shape shape = x.shape();
    for (const std::int64_t size : shape) require_operation_elements(where, size);
  }
  const auto run = [&operation, where, options = options_](const Values& given) {
    return operation.run(given, KerasOptions(options, where));
  };
  return with_sizes(run, xs);
}

void register_operation_layer() {
  static const bool once = [] {
    register_saved(saved_class<OperationLayer, OperationLayerOptions, Layer>(operation_layer_class));
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace mezzo::detail
