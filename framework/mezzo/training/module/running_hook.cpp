#include <mezzo/training/module/running_hook.hpp>

#include <mezzo/core/execution_context.hpp>

namespace mezzo::detail {
namespace {

struct HookState {
  RunningHook* innermost = nullptr;
};

HookState& hook_state() { return ExecutionContext::current().part<HookState>(); }

}  // namespace

RunningHook::RunningHook() : outer_(hook_state().innermost) { hook_state().innermost = this; }

RunningHook::~RunningHook() { hook_state().innermost = outer_; }

RunningHook* RunningHook::innermost() { return hook_state().innermost; }

}  // namespace mezzo::detail
