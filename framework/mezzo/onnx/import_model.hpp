#pragma once
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

/// Options of OnnxModel.
struct OnnxModelOptions {
  std::string graph{};                 ///< required; the message in base64, without the numbers of Variables
  std::vector<std::string> weights{};  ///< initializers that are Variables
  std::vector<std::string> trained{};  ///< those of them that train
  std::string name{};
  Policy dtype{};
};

void describe(Fields& fields, OnnxModelOptions& options);

/// A model that runs the graph of an ONNX file.
class OnnxModel : public Model {
 public:
  /// Makes the model with zeros as weights. A FileError or ValueError for a graph that can't run.
  explicit OnnxModel(const OnnxModelOptions& options);

  /// Sets the numbers of a Variable, which have the file's order of axes.
  void assign(const std::string& name, const Tensor& numbers);

 protected:
  Values call_many(const Values& xs) override;

 private:
  struct Weight {
    std::string name;
    std::size_t place;  ///< in the values of the graph
    Variable variable;
    bool kernel;  ///< stored as (spatial axes..., C, F)
  };

  void add_weights(const OnnxModelOptions& options);
  /// Makes the layers that nodes are. Those whose weights are all frozen don't train.
  void add_layers();
  Values run(const Values& xs) const;
  Values run_later(const Values& xs) const;
  Value checked_input(const OnnxGraph::Input& input, const Value& x, std::map<std::string, std::int64_t>& sizes) const;

  std::shared_ptr<const OnnxGraph> graph_;
  std::vector<Weight> weights_;
  OnnxRun::Scopes scopes_;
  bool reads_sizes_ = false;  // computes with sizes of arrays
};

}  // namespace mezzo::detail
