#include <mezzo/training/optimizer_owner.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

struct Ownership {
  std::weak_ptr<Optimizer::State> optimizer;
  std::weak_ptr<LayerState> model;
};

/// All of the process. Copies of an optimizer share its state; a clone has its own, without an owner.
struct Ownerships {
  std::mutex mutex;
  std::vector<Ownership> all;
};

Ownerships& ownerships() {
  static auto* const forever = new Ownerships;  // never destroyed: models may train during static destruction
  return *forever;
}

}  // namespace

void own_optimizer(const Optimizer& optimizer, const std::shared_ptr<LayerState>& model, bool anew) {
  Ownerships& known = ownerships();
  const std::lock_guard<std::mutex> lock(known.mutex);
  auto& all = known.all;
  all.erase(std::remove_if(all.begin(), all.end(), [](const Ownership& one) { return one.optimizer.expired(); }),
            all.end());
  const std::shared_ptr<Optimizer::State>& state = optimizer.state().pointer();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Ownership& one) { return one.optimizer.lock() == state; });
  if (found == all.end()) {
    all.push_back({state, model});
    return;
  }
  if (!anew && found->model.lock() != model) {
    fail<ValueError>(
        "[" + optimizer.name() + "]",
        "an optimizer trains one model; got a second one, which needs an optimizer of its own: make it anew");
  }
  found->model = model;
}

}  // namespace mezzo::detail
