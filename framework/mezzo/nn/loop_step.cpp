#include <mezzo/nn/loop_step.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void LoopStep::refuse_frozen(const std::string& owner, const char* call, const char* instead) {
  if (innermost() == nullptr) return;
  fail<ValueError>("[" + owner + "]",
                   "{} must be called between steps; got a call inside the function of compile_step, which runs only "
                   "when a plan is made: {}",
                   call, instead);
}

void CalledRoots::note(const Shared<LayerState>& layer) {
  CalledRoots* const roots = innermost();
  if (roots == nullptr) return;
  const auto same = [&](const Shared<LayerState>& one) { return one.get() == layer.get(); };
  if (std::none_of(roots->layers_.begin(), roots->layers_.end(), same)) roots->layers_.push_back(layer);
}

}  // namespace mezzo::detail
