#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Options of load_onnx().
struct LoadOnnxOptions {
  /// Weights that training updates. "auto": floats that products, convolutions, normalization, embeddings (Gather) and
  /// recurrent operators read, and those that are added as a bias or multiply as a scale; "all": all floats with more
  /// than one element; "none"; else a regular expression (RE2) that matches whole names: `"head\\..*"`. Running
  /// statistics of BatchNormalization are never trainable.
  std::string trainable = "auto";
  std::string name{};  ///< name for error texts and paths; "": none
  /// Policy of the model. Not given: the global one; float64 in place of float32, if the inputs are float64 in the
  /// file.
  Policy dtype{};
  /// Outputs of the model, in place of the file's: names of nodes, or of values that nodes make. The graph ends there,
  /// and a new head can follow: `{.outputs = {"/avgpool/GlobalAveragePool"}}`. {}: those of the file.
  std::vector<std::string> outputs{};
  /// True: takes any number of samples, also if the file has a fixed one: opens axis 0 of the first input and of others
  /// of the same size. A FileError if the graph can't do that, because it contains arrays for that number of samples.
  bool dynamic_batch = false;
};

/// Reads an ONNX file of opset 1 to 22 as a model, to predict with and to train:
///
///     auto model = load_onnx("resnet18.onnx");
///     model->compile({.optimizer = "sgd", .loss = SparseCategoricalCrossentropy({.from_logits = true})});
///     model->fit(images, labels);
///
/// Initializers that are floats become Variables with their names; other numbers are constants. Inputs and outputs have
/// the names and the order of axes of the file; sizes that the file leaves open stay open. BatchNormalization and
/// Dropout follow the mode of the run, whatever mode the file was written in. A BatchNormalization whose weights are
/// not trainable runs as in inference. Policies take part as for any model: floats of the file compute in the policy's
/// compute dtype. save() writes a `.mezzo` file, which load_model() reads in programs that link mezzo::onnx.
///
/// Nodes are layers with the weights that they are the first to compute with; set_trainable() of a node freezes these.
///
/// Data outside of the file is read from its folder and from folders in that alone. A FileError that names node and
/// operator if the file is damaged or uses an operator or attribute that mezzo doesn't have: sequences, strings, other
/// domains. A NameError if `trainable` matches no weight, or for an unknown name in `outputs`.
MEZZO_API Any<Model> load_onnx(const std::string& path, const LoadOnnxOptions& options = {});

namespace detail {
/// Makes load_model() know models that load_onnx() made. Returns true.
MEZZO_API bool register_onnx_models();
inline const bool onnx_models_are_registered = register_onnx_models();
}  // namespace detail

}  // namespace mezzo
