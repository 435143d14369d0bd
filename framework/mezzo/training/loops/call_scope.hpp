#pragma once
#include <functional>
#include <vector>

#include <mezzo/training/loops/loops.hpp>
#include <mezzo/training/module/session.hpp>

namespace mezzo::detail {

/// A call of fit, evaluate or predict from before its first use of the module to its end. Collects the callbacks of the
/// call and of the module. Calls setup() at the start and teardown() at the end, also after an error.
class CallScope {
 public:
  /// With CallSettings::make_loaders the loaders are made after setup(). `count_batches` is called then.
  CallScope(Module& module, Stage stage, const CallSettings& options, const std::function<void()>& count_batches);
  /// Errors of teardown() become warnings.
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  Stage stage() const { return stage_; }
  const CallSettings& options() const { return options_; }
  const std::vector<Callback*>& callbacks() const { return callbacks_; }
  /// All callbacks, also those that run in another process.
  const Callbacks& handles() const { return handles_; }

 private:
  void tear_down();

  Module& module_;
  Stage stage_;
  const CallSettings& options_;
  Callbacks handles_;
  std::vector<Callback*> callbacks_;
};

}  // namespace mezzo::detail
