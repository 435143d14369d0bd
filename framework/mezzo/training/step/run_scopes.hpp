#pragma once
#include <memory>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/core/usage.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// Marks a module and its weights as running for its lifetime. Waits while other threads access them: save a
/// checkpoint, read a weight.
class MEZZO_API RunningScope {
 public:
  /// A ValueError if the module is running already, or if another thread runs a module that shares a weight. Unless
  /// `alone`, hooks of callbacks may run the module inside of another run.
  explicit RunningScope(Module& module, bool alone = true);

  /// Adds the weights that were made since.
  void add_weights();

 private:
  Module& module_;
  std::optional<RunScope> scope_;
};

/// Accesses the state and the weights of a module for its lifetime, without running it. Waits while another thread does
/// so. A ValueError if the module is running, unless a hook of that run calls and `alone` is false.
class IdleScope {
 public:
  explicit IdleScope(Module& module, bool alone = true);

 private:
  std::shared_ptr<const RunState> state_;
  std::optional<AccessScope> scope_;
};

}  // namespace mezzo::detail
