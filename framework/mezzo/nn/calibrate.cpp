#include <mezzo/nn/calibrate.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/quantization.hpp>

namespace mezzo {
namespace {

using Magnitudes = std::map<const detail::VariableState*, double>;

/// The calibration's part of a thread's ExecutionContext.
struct CalibrationContext {
  Magnitudes* running = nullptr;
};

Magnitudes*& running() { return detail::ExecutionContext::current().part<CalibrationContext>().running; }

}  // namespace

bool detail::note_inputs(const Value& x, const VariableState& weight) {
  if (running() == nullptr) return false;
  if (x.symbolic()) return true;
  if (element_count(x.shape()) == 0) {
    fail<ValueError>("[calibrate]", "inputs of {} must have elements; got shape {}", weight.name, x.shape());
  }
  double& most = (*running())[&weight];
  for (const double number : x.tensor().to_doubles()) {
    if (!std::isfinite(number)) {
      fail<ValueError>("[calibrate]", "inputs of {} must be finite; got {}", weight.name, number);
    }
    most = std::max(most, std::abs(number));
  }
  return true;
}

void detail::calibrate_by(Layer& layer, const std::function<void()>& run) {
  Magnitudes magnitudes;
  {
    const ScopedValue<Magnitudes*> noting(running(), &magnitudes);
    run();
  }
  std::vector<std::pair<detail::Shared<detail::VariableState>, float>> scales;
  for (const auto& [path, weight] : layer.named_weights()) {
    const auto& form = weight.state()->quantization;
    const auto& fake = weight.state()->fake;
    const bool codes = form && form->inputs_scale.get() != nullptr, steps = fake && fake->inputs_step.get() != nullptr;
    if (!codes && !steps) continue;
    const auto found = magnitudes.find(weight.state().get());
    if (found == magnitudes.end())
      fail<ValueError>("[calibrate]", "run must call the layer of {} for a product; it got no input", path);
    if (found->second == 0) {
      fail<ValueError>("[calibrate]", "inputs of {} must have a number other than 0; got zeros alone", path);
    }
    const float range = static_cast<float>(found->second) + 1e-7F;
    if (codes) scales.emplace_back(form->inputs_scale, 127.0F / range);
    if (steps) scales.emplace_back(fake->inputs_step, range / 127.0F);
  }
  if (scales.empty())
    fail<ValueError>("[calibrate]", "the layer must have weights with static activations; found none");
  for (const auto& [state, scale] : scales) state->assign(Tensor::scalar(scale, DType::float32));
}

void calibrate(Layer& layer, const std::vector<Tensor>& batches) {
  calibrate(layer, [&] {
    for (const Tensor& batch : batches) layer(Value(batch), {.training = false});
  });
}

}  // namespace mezzo
