#pragma once
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/step/notices.hpp>

namespace mezzo::detail {

/// Environment variable that turns off notices and warnings of policies that are slow on this CPU.
constexpr const char* slow_policy_switch = "MEZZO_WARN_SLOW_POLICY";

/// Tells, once for each model, of dtypes in which a step computes although this CPU has no products of them:
/// "[Trainer] bfloat16 is absent on this CPU: ...". Likewise if no product of int8 has a kernel for it. The environment
/// variable MEZZO_WARN_SLOW_POLICY=0 turns it off.
void report_emulation(Notices& notices, const Graph& step);

}  // namespace mezzo::detail
