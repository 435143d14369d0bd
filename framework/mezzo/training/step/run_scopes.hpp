#pragma once
#include <memory>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/core/usage.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/step/run_turn.hpp>

namespace mezzo::detail {

/// Marks a module and its weights as running for its lifetime. Waits while other threads access them: save a
/// checkpoint, read a weight.
class MEZZO_API RunningScope {
 public:
  /// If another thread runs the module or a weight of it, it waits for the end of that run. A run that is not `alone`
  /// also takes place between two batches of another one; then it counts as a call by a hook of that run. A ValueError
  /// if both are `alone`, as trainings are, or if the module is running on this thread already. Unless `alone`, hooks
  /// of callbacks may run the module inside of another run.
  explicit RunningScope(Module& module, bool alone = true);

  /// Adds the weights that were made since.
  void add_weights();

  /// Lends the module and its weights to other threads that wait for them, for its lifetime. This thread must not use
  /// them meanwhile.
  class Lent {
   public:
    explicit Lent(RunningScope& scope) : turn_(*scope.turn_) { turn_.lend(); }
    ~Lent() { turn_.reclaim(); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

   private:
    RunTurn& turn_;
  };

 private:
  /// Runs the module and its weights if no other thread does so. False if one has begun to do so.
  bool run(const RunScope::Object& state, bool nests);
  bool try_weights();

  Module& module_;
  std::unique_ptr<RunTurn> turn_;
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
