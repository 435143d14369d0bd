#pragma once
#include <string>
#include <vector>

#include <mezzo/nn/optimizer.hpp>

namespace mezzo::detail {

/// Options and shared state of an optimizer of any class, for the counts between steps. It makes no updates.
class HeldOptimizer final : public Optimizer {
 public:
  explicit HeldOptimizer(const Optimizer& optimizer) : Optimizer(optimizer), slot_names_(optimizer.slot_names()) {}

  std::vector<std::string> slot_names() const override { return slot_names_; }
  void update_step(const std::shared_ptr<VariableState>&, const Value&, const Step&) override {}

 private:
  std::vector<std::string> slot_names_;
};

}  // namespace mezzo::detail
