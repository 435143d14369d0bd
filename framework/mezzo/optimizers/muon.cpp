#include <mezzo/optimizers/muon.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

Value number(double value, DType dtype) { return Tensor::scalar(value, dtype); }

/// x clipped to [-limit, limit]; NaN stays NaN.
Value clipped(const Value& x, double limit) {
  if (limit == 0) return x;
  const Value bound = number(limit, x.dtype());
  return x - relu(x - bound) + relu(negative(x) - bound);
}

}  // namespace

Muon::Muon(const MuonOptions& options) : Optimizer("Muon", common_options(options)), options_(options) {
  require_fraction("adam_beta_1", options_.adam_beta_1);
  require_fraction("adam_beta_2", options_.adam_beta_2);
  require_at_least_0("adam_weight_decay", options_.adam_weight_decay);
  require_at_least_0("epsilon", options_.epsilon);
  const double rms_rate = options_.rms_rate.value_or(1);
  for (const auto& [option, value] :
       {std::pair("adam_lr_ratio", options_.adam_lr_ratio), std::pair("rms_rate", rms_rate)}) {
    require(std::isfinite(value), fmt::format("{} must be finite; got {}", option, value));
    require(value > 0, fmt::format("{} must be above 0; got {}", option, value));
  }
  require_fraction("momentum", options_.momentum);
  require(options_.ns_steps >= 1, fmt::format("ns_steps must be at least 1; got {}", options_.ns_steps));
  for (const std::string& pattern : options_.exclude_layers) {
    try {
      const detail::Pattern compiled(pattern);
    } catch (const std::runtime_error& error) {
      require(false, fmt::format("exclude_layers must be regular expressions; got \"{}\": {}", pattern, error.what()));
    }
  }
}

bool Muon::uses_adam(const Shape& variable, const std::string& path) const {
  if (variable.size() != 2) return true;
  std::string lower = path;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (options_.exclude_embeddings && lower.find("embedding") != std::string::npos) return true;
  return std::any_of(options_.exclude_layers.begin(), options_.exclude_layers.end(),
                     [&](const std::string& pattern) { return detail::Pattern(pattern).is_found_in(path); });
}

bool Muon::needs_slot(const std::string& slot, const Shape& variable) const {
  return slot != "velocity" || variable.size() != 2;
}

double Muon::default_weight_decay(const detail::VariableState& variable, const std::string& path) const {
  return uses_adam(variable.value.shape(), path) ? options_.adam_weight_decay : options_.weight_decay;
}

Value Muon::orthogonalized(Value x) const {
  const DType dtype = x.dtype();
  const bool tall = x.shape()[0] > x.shape()[1];
  if (tall) x = transpose(x);
  x = x / (sqrt(sum(x * x)) + number(1e-7, dtype));
  for (std::int64_t i = 0; i < options_.ns_steps; ++i) {
    const Value a = matmul(x, x, {.transpose_b = true});
    const Value b = number(options_.muon_b, dtype) * a + number(options_.muon_c, dtype) * matmul(a, a);
    x = number(options_.muon_a, dtype) * x + matmul(b, x);
  }
  return tall ? transpose(x) : x;
}

void Muon::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                       const Step& step) {
  const Value multiplier = gradient_multiplier(gradient, step);
  const auto scaled_rate = [&](double factor) { return step.learning_rate * number(factor, DType::float64); };
  // The fused passes decay by the rate that is passed to them, Keras by the learning rate.
  const auto decay = [&](double factor) { return step.weight_decay / factor; };
  const Shape& shape = variable->value.shape();
  if (uses_adam(shape, step.path.empty() ? variable->name : step.path)) {
    update(variable, gradient, step,
           {.op = &ops::adam_update,
            .slots = slot_names(),
            .numbers = {scaled_rate(options_.adam_lr_ratio), step.count, multiplier},
            .attributes = {{"beta_1", options_.adam_beta_1},
                           {"beta_2", options_.adam_beta_2},
                           {"epsilon", options_.epsilon},
                           {"weight_decay", decay(options_.adam_lr_ratio)},
                           {"clipvalue", common().clipvalue}}});
    return;
  }
  const DType dtype = accumulation_dtype(variable->dtype());
  const auto slot_state = slot(variable, "momentum", dtype);
  const Value wide = gradient.dtype() == dtype ? gradient : cast(gradient, dtype);
  const Value g = clipped(wide * cast(multiplier, dtype), common().clipvalue);
  const Value weight = number(options_.momentum, dtype);
  const Value m = read_stored(slot_state) * weight + g;
  update_stored(slot_state, m);
  const double larger = static_cast<double>(std::max(shape[0], shape[1]));
  const double factor = options_.rms_rate ? std::sqrt(larger) * *options_.rms_rate : 1;
  update(variable, orthogonalized(options_.nesterov ? g + weight * m : m), step,
         {.op = &ops::sgd_update,
          .slots = {},
          .numbers = {scaled_rate(factor), number(1, DType::float64)},
          .attributes = {{"momentum", 0.0}, {"weight_decay", decay(factor)}, {"clipvalue", 0.0}, {"nesterov", false}}});
}

}  // namespace mezzo
