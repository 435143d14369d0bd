#include <mezzo/onnx/import_recurrent_steps.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/scan.hpp>

namespace mezzo::detail {
namespace {

/// Numbers of an activation: which it has, and their defaults.
struct ActivationNumbers {
  std::optional<double> alpha{}, beta{};
};

const std::map<std::string, ActivationNumbers>& known_activations() {
  static const auto* const all = new std::map<std::string, ActivationNumbers>{{"affine", {1.0, 0.0}},
                                                                              {"elu", {1.0, {}}},
                                                                              {"hardsigmoid", {0.2, 0.5}},
                                                                              {"leakyrelu", {0.01, {}}},
                                                                              {"relu", {}},
                                                                              {"scaledtanh", {1.0, 1.0}},
                                                                              {"sigmoid", {}},
                                                                              {"softplus", {}},
                                                                              {"softsign", {}},
                                                                              {"tanh", {}},
                                                                              {"thresholdedrelu", {1.0, {}}}};
  return *all;
}

bool is_near(double a, double b) { return std::abs(a - b) < 1e-6; }

/// The steps of a cell.
class CellSteps {
 public:
  explicit CellSteps(const OnnxCell& cell) : cell_(cell) {}

  /// New states from the product of the inputs (batch, gates units) and the states.
  Values advance(const Value& x, const Values& states) const {
    const Value& h = states[0];
    if (cell_.kind == "simple_rnn") return {function(0, bounded(x + product(h)))};
    if (cell_.kind == "lstm") return lstm(x, states);
    return {cell_.kind == "gru" ? gru(x, h) : gru_reset_before(x, h)};
  }

 private:
  Value function(std::size_t i, const Value& x) const { return cell_.functions[i](x); }
  Value bounded(const Value& x) const { return cell_.clip ? clip(x, -*cell_.clip, *cell_.clip) : x; }
  Value gate(const Value& x) const { return function(0, bounded(x)); }

  Value product(const Value& h) const {
    const Value y = matmul(h, cell_.recurrent);
    return cell_.bias.defined() ? bias_add(y, cell_.bias) : y;
  }

  /// The gates of an array along its last axis.
  static Values gates(const Value& x, std::int64_t count) { return split(x, count, -1); }

  Values lstm(const Value& x, const Values& states) const {
    const Values z = gates(x + product(states[0]), 4);  // i, f, c, o
    const Value& before = states[1];
    const auto peeped = [&](const Value& of_gate, std::size_t i, const Value& carry) {
      return cell_.peepholes.empty() ? of_gate : of_gate + cell_.peepholes[i] * carry;
    };
    const Value i = gate(peeped(z[0], 0, before));
    const Value f = cell_.coupled ? 1.0 - i : gate(peeped(z[1], 2, before));
    const Value carry = f * before + i * function(1, bounded(z[2]));
    const Value o = gate(peeped(z[3], 1, carry));
    return {o * function(2, carry), carry};
  }

  static Value mixed(const Value& z, const Value& h, const Value& candidate) { return z * h + (1.0 - z) * candidate; }

  Value gru(const Value& x, const Value& h) const {
    const Values a = gates(x, 3), b = gates(product(h), 3);  // z, r, h
    const Value z = gate(a[0] + b[0]), r = gate(a[1] + b[1]);
    return mixed(z, h, function(1, bounded(a[2] + r * b[2])));
  }

  Value gru_reset_before(const Value& x, const Value& h) const {
    const Values a = gates(cell_.bias.defined() ? bias_add(x, cell_.bias) : x, 3), kernels = gates(cell_.recurrent, 3);
    const Value z = gate(a[0] + matmul(h, kernels[0])), r = gate(a[1] + matmul(h, kernels[1]));
    return mixed(z, h, function(1, bounded(a[2] + matmul(r * h, kernels[2]))));
  }

  const OnnxCell& cell_;
};

}  // namespace

std::optional<std::string> OnnxActivation::of_recurrence() const {
  if (name == "elu") return alpha == 1 ? std::optional<std::string>(name) : std::nullopt;
  if (name == "hardsigmoid") {
    return is_near(alpha, 1.0 / 6) && beta == 0.5 ? std::optional<std::string>("hard_sigmoid") : std::nullopt;
  }
  if (name == "leakyrelu") {
    return is_near(alpha, 0.2) ? std::optional<std::string>("leaky_relu") : std::nullopt;
  }
  if (name == "affine" && alpha == 1 && beta == 0) return "linear";
  const bool plain = !known_activations().at(name).alpha;
  return plain ? std::optional<std::string>(name) : std::nullopt;
}

Value OnnxActivation::operator()(const Value& x) const {
  if (name == "affine") return alpha * x + beta;
  if (name == "elu") return elu(x, alpha);
  if (name == "hardsigmoid") return clip(alpha * x + beta, 0, 1);
  if (name == "leakyrelu") return leaky_relu(x, alpha);
  if (name == "relu") return relu(x);
  if (name == "scaledtanh") return alpha * mezzo::tanh(beta * x);
  if (name == "sigmoid") return sigmoid(x);
  if (name == "softplus") return softplus(x);
  if (name == "softsign") return softsign(x);
  if (name == "thresholdedrelu") return where(x > alpha, x, zeros_like(x));
  return mezzo::tanh(x);
}

std::vector<OnnxActivation> onnx_activations(OnnxCall& call, std::size_t count,
                                             const std::vector<std::string>& otherwise) {
  std::vector<std::string> names = call.texts("activations");
  const std::vector<double> alphas = call.numbers_of("activation_alpha"), betas = call.numbers_of("activation_beta");
  if (names.empty()) {
    while (names.size() < count) names.insert(names.end(), otherwise.begin(), otherwise.end());
  }
  if (names.size() != count) call.refuse("activations must have {} names; got {}", count, names.size());
  std::vector<OnnxActivation> out;
  std::size_t next_alpha = 0, next_beta = 0;
  for (const std::string& given : names) {
    OnnxActivation one{given};
    std::transform(one.name.begin(), one.name.end(), one.name.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto found = known_activations().find(one.name);
    if (found == known_activations().end()) call.refuse("activation \"{}\" isn't supported", given);
    // The lists have numbers for those functions alone that have such a number.
    const auto& [alpha, beta] = found->second;
    if (alpha) one.alpha = next_alpha < alphas.size() ? alphas[next_alpha++] : *alpha;
    if (beta) one.beta = next_beta < betas.size() ? betas[next_beta++] : *beta;
    out.push_back(std::move(one));
  }
  return out;
}

RecurrenceResult run_onnx_steps(const OnnxCell& cell, const Value& x, const Values& initial, const Value& mask) {
  const CellSteps steps(cell);
  Values sequences{swapaxes(x, 0, 1)};
  if (mask.defined()) sequences.push_back(expand_dims(swapaxes(mask, 0, 1), -1));
  const ScanResult result = scan(
      [&](const Values& carry, const Values& elements) {
        Values next = steps.advance(elements[0], carry);
        for (std::size_t i = 0; mask.defined() && i < next.size(); ++i) next[i] = where(elements[1], next[i], carry[i]);
        const Value state = next[0];
        return ScanResult{std::move(next), {state}};
      },
      initial, sequences);
  return {swapaxes(result.outputs[0], 0, 1), result.carry};
}

}  // namespace mezzo::detail
