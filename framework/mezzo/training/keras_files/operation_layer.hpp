#pragma once
#include <string>

#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// Options of OperationLayer.
struct OperationLayerOptions {
  std::string operation{};    ///< Required. Class in Keras' configs: "GetItem".
  std::string options{"{}"};  ///< JSON of the options, as Keras' config has them
  std::string name{};         ///< name of the layer; "": automatic
  Policy dtype{};             ///< precision policy; default: the policy of the enclosing model
};
void describe(Fields& fields, OperationLayerOptions& options);

/// An operation of keras.ops between the layers of a functional model of Keras, as a layer without weights: those of
/// keras_operations().
class OperationLayer : public Layer {
 public:
  /// A ValueError for an unknown operation, or if the options are no JSON object.
  explicit OperationLayer(const OperationLayerOptions& options);

 protected:
  Values call_many(const Values& xs) override;

 private:
  std::string operation_;
  Json options_;
};

/// Registers OperationLayer for configs. Thread-safe.
void register_operation_layer();

}  // namespace mezzo::detail
