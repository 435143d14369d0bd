#include <mezzo/nn/call_with_weights.hpp>

#include <memory>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/replaced_variable.hpp>

namespace mezzo {
namespace {

/// Replaces variables for its lifetime. The last replacement ends first.
class ReplacedWeights {
 public:
  ReplacedWeights() = default;
  ReplacedWeights(const ReplacedWeights&) = delete;
  ReplacedWeights& operator=(const ReplacedWeights&) = delete;
  ~ReplacedWeights() {
    while (!all_.empty()) all_.pop_back();
  }

  void add(const Variable& variable, const Value& value) {
    all_.push_back(std::make_unique<ReplacedVariable>(variable.state().pointer(), value));
  }

 private:
  std::vector<std::unique_ptr<ReplacedVariable>> all_;
};

}  // namespace

Value functional_call(Layer& layer, const Values& weights, const Value& x, const CallOptions& options) {
  return functional_call(layer, weights, Values{x}, options).at(0);
}

Values functional_call(Layer& layer, const Values& weights, const Values& xs, const CallOptions& options) {
  const std::string where = "[functional_call]";
  if (!layer.state()->called && layer.weights().empty()) {
    fail<ValueError>(where, "the layer must be built; got one that was not called yet");
  }
  const std::vector<Variable> variables = layer.trainable_weights();
  if (weights.size() != variables.size()) {
    fail<ValueError>(where, "there must be one Value for each of the {} trainable weights; got {}", variables.size(),
                     weights.size());
  }
  ReplacedWeights replaced;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].defined()) fail<ValueError>(where, "weight {} must be defined; got an undefined Value", i);
    if (weights[i].shape() != variables[i].shape()) {
      fail<ShapeError>(where, "weight {}, \"{}\", must have shape {}; got {}", i, variables[i].name(),
                       variables[i].shape(), weights[i].shape());
    }
    if (!is_floating(weights[i].dtype())) {
      fail<DTypeError>(where, "weight {}, \"{}\", must be floating; got {}", i, variables[i].name(),
                       weights[i].dtype());
    }
    replaced.add(variables[i], weights[i]);
  }
  return layer(xs, options);
}

}  // namespace mezzo
