#pragma once
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

class RankStates;

/// Makes the optimizer states of a module's training whole for its lifetime, for a save.
class WholeStates {
 public:
  explicit WholeStates(Module& module);
  ~WholeStates();
  WholeStates(const WholeStates&) = delete;
  WholeStates& operator=(const WholeStates&) = delete;

 private:
  const OptimizerConfigs& optimizers_;
  RankStates* divided_ = nullptr;  // null: the states are whole
};

}  // namespace mezzo::detail
