#include <mezzo/models/activation_names.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/activations.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

Value tanh_gelu(const Value& x) { return gelu(x, true); }

Value quick_gelu(const Value& x) { return x * sigmoid(1.702 * x); }

struct NamedActivation {
  const char* name;
  ActivationFunction function;
};

/// In alphabetical order. Names of Keras keep theirs, so that layers can be saved.
const std::vector<NamedActivation>& activations_by_name() {
  static const std::vector<NamedActivation> known{{"gelu", "gelu"},
                                                  {"gelu_fast", tanh_gelu},
                                                  {"gelu_new", tanh_gelu},
                                                  {"gelu_python", "gelu"},
                                                  {"gelu_pytorch_tanh", tanh_gelu},
                                                  {"leaky_relu", [](const Value& x) { return leaky_relu(x, 0.01); }},
                                                  {"linear", "linear"},
                                                  {"mish", "mish"},
                                                  {"quick_gelu", quick_gelu},
                                                  {"relu", "relu"},
                                                  {"relu6", "relu6"},
                                                  {"sigmoid", "sigmoid"},
                                                  {"silu", "silu"},
                                                  {"swish", "silu"},
                                                  {"tanh", "tanh"}};
  return known;
}

}  // namespace

const std::vector<std::string>& activation_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const NamedActivation& entry : activations_by_name()) out.emplace_back(entry.name);
    return out;
  }();
  return names;
}

ActivationFunction activation_of_name(const std::string& where, const char* option, const std::string& name) {
  const auto& known = activations_by_name();
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return name == entry.name; });
  if (found == known.end()) fail_unknown(where, option, name, activation_names());
  return found->function;
}

}  // namespace mezzo::detail
