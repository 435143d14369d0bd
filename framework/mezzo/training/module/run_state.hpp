#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/usage.hpp>
#include <mezzo/distributed/transfer.hpp>
#include <mezzo/training/module/history.hpp>

namespace mezzo {

class Module;
class Session;

namespace detail {

class Plan;

/// State that runs keep in a module. Implemented by training/step.
struct MEZZO_API RunState {
  virtual ~RunState() = default;

  /// The running fit, if this thread runs one of its hooks; else null.
  virtual Session* session_of_hook() const = 0;

  /// Epochs of the last fit of `module`, whose state this is. A ValueError while another thread runs the module.
  virtual History history_of(Module& module) const = 0;

  std::shared_ptr<const Plan> last_plan;  ///< plan of the last step, for explain()
  std::vector<Transfer> transfers;        ///< of the last training step; none for a process alone
  Usage usage;                            ///< use by a thread that runs the module or reads its state
};

/// Guards the run states of all modules: two threads may make the first call.
std::mutex& run_state_mutex();

/// Run state of a module that another thread may set; null before the first run.
std::shared_ptr<RunState> run_state_of(const Module& module);

}  // namespace detail
}  // namespace mezzo
