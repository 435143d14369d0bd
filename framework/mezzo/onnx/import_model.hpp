#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/onnx/import_run.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {
class Fields;
}

namespace mezzo::detail {

struct OnnxUse;

/// A node that is a sub-layer, and the flag that it has by its weights.
struct OnnxLayer {
  std::string name;
  Shared<LayerState> layer;
  bool trainable = true;
};

/// Options of OnnxModel.
struct OnnxModelOptions {
  std::string graph{};                 ///< required; the message in base64, without the numbers of Variables
  std::vector<std::string> weights{};  ///< initializers that are Variables
  std::vector<std::string> trained{};  ///< those of them that train
  std::vector<std::string> flipped{};  ///< layers whose flag `trainable` is not the one by their weights
  std::string name{};
  Policy dtype{};
  std::vector<OnnxLayer> layers{};  ///< set by the model: its layers, from which `flipped` is written
};

void describe(Fields& fields, OnnxModelOptions& options);

/// A model that runs the graph of an ONNX file.
class OnnxModel : public Model {
 public:
  /// Makes the model with zeros as weights. A FileError or ValueError for a graph that can't run.
  explicit OnnxModel(const OnnxModelOptions& options);

  const OnnxGraph& graph() const { return *graph_; }

  /// Sets the numbers of a Variable, which have the file's order of axes.
  void assign(const std::string& name, const Tensor& numbers);

  /// A ValueError if the graph can't run with other numbers of samples than `batch`.
  void require_any_batch(std::int64_t batch) const;

  /// Inputs as the file declares them, -1 for open sizes. Empty if it leaves out a shape or dtype.
  std::vector<Spec> declared_inputs() const;

 protected:
  Values call_many(const Values& xs) override;

 private:
  struct Weight {
    std::string name;
    std::size_t place;  ///< in the values of the graph
    Variable variable;
    bool kernel;  ///< stored as (spatial axes..., C, F)
  };

  /// Makes the layers that nodes are, each with the weights that it is the first to compute with.
  void add_layers(const OnnxModelOptions& options);
  OnnxLayer add_layer(const OnnxNode& node, bool trainable, bool owns);
  void add_weight_of(Layer& layer, const OnnxGraph::Initializer& one, const OnnxUse& use, bool trained);

  Values run(const Values& xs) const;
  Values run_later(const Values& xs) const;
  /// Specs of the outputs for inputs of these specs, whose sizes are known.
  std::vector<Spec> outputs_for(const std::vector<Spec>& inputs) const;
  Value checked_input(const OnnxGraph::Input& input, const Value& x, std::map<std::string, std::int64_t>& sizes) const;
  void refuse_shape(const OnnxGraph::Input& input, const Shape& shape, const std::string& where) const;

  std::shared_ptr<const OnnxGraph> graph_;
  std::vector<Weight> weights_;
  OnnxRun::Scopes scopes_;
  std::size_t entered_ = 0;   // sub-layers
  bool reads_sizes_ = false;  // computes with sizes of arrays
  bool has_loops_ = false;    // has bodies that are traced in the call
};

/// Axes of the file for a kernel (spatial axes..., C, F): {3, 2, 0, 1} for two spatial axes.
Shape onnx_kernel_order(std::size_t rank);

}  // namespace mezzo::detail
