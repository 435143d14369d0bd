#pragma once
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/step/notices.hpp>

namespace mezzo::detail {

/// Environment variable that turns off notices and warnings of policies that are slow on this CPU.
constexpr const char* slow_policy_switch = "MEZZO_WARN_SLOW_POLICY";

/// Tells, once for each model, of dtypes in which a step computes although this CPU has no products of them:
/// "[Trainer] bfloat16 is absent on this CPU: ...". The environment
/// variable MEZZO_WARN_SLOW_POLICY=0 turns it off.
void report_emulation(Notices& notices, const Graph& step);

/// The same for steps with products of int8, none of which has a kernel that multiplies int8. `step` is one that runs:
/// a rehearsal may have another policy.
void report_int8_emulation(Notices& notices, const Graph& step);

}  // namespace mezzo::detail
