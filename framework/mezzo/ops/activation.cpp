#include <mezzo/ops/activation.hpp>

#include <string>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/activations.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

struct Known {
  const char* name;
  Value (*function)(const Value&);
};

/// The names of keras.activations, in alphabetical order, with Keras' default arguments.
constexpr Known known[] = {
    {"celu", [](const Value& x) { return celu(x); }},
    {"elu", [](const Value& x) { return elu(x); }},
    {"exp", exp},
    {"exponential", exp},
    {"gelu", [](const Value& x) { return gelu(x); }},
    {"glu", [](const Value& x) { return glu(x); }},
    {"hard_shrink", [](const Value& x) { return hard_shrink(x); }},
    {"hard_sigmoid", hard_sigmoid},
    {"hard_silu", hard_silu},
    {"hard_swish", hard_silu},
    {"hard_tanh", hard_tanh},
    {"leaky_relu", [](const Value& x) { return leaky_relu(x); }},
    {"linear", activations::linear},
    {"log_sigmoid", log_sigmoid},
    {"log_softmax", [](const Value& x) { return log_softmax(x); }},
    {"mish", mish},
    {"relu", relu},
    {"relu6", relu6},
    {"selu", selu},
    {"sigmoid", sigmoid},
    {"silu", silu},
    {"soft_shrink", [](const Value& x) { return soft_shrink(x); }},
    {"softmax", [](const Value& x) { return softmax(x); }},
    {"softplus", softplus},
    {"softsign", softsign},
    {"sparse_plus", sparse_plus},
    {"sparse_sigmoid", sparse_sigmoid},
    {"sparsemax", [](const Value& x) { return sparsemax(x); }},
    {"squareplus", [](const Value& x) { return squareplus(x); }},
    {"swish", silu},
    {"tanh", tanh},
    {"tanh_shrink", tanh_shrink},
};

}  // namespace

std::function<Value(const Value&)> ActivationFunction::find(const std::string& name) {
  std::vector<std::string> names;
  for (const Known& entry : known) {
    if (name == entry.name) return entry.function;
    names.push_back(entry.name);
  }
  fail_unknown("", "activation", name, names);
}

}  // namespace mezzo
