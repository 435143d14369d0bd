#pragma once
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/step/notices.hpp>
#include <mezzo/training/step/run_options.hpp>

namespace mezzo::detail {

/// Environment variable that turns off notices and warnings of policies that are slow on this CPU.
constexpr const char* slow_policy_switch = environment_variables::warn_slow_policy;

/// Tells, once for each model, of dtypes in which a step computes although this CPU has no products of them:
/// "[Trainer] bfloat16 is absent on this CPU: ...". The environment
/// variable MEZZO_WARN_SLOW_POLICY=0 turns it off.
void report_emulation(Notices& notices, const Graph& step);

/// The same for steps with products of int8, none of which has a kernel that multiplies int8. `step` is one that runs:
/// a rehearsal may have another policy.
void report_int8_emulation(Notices& notices, const Graph& step);

/// Warns, once for each model, if no product of a step is in int8 although the precision is "int8-mixed". `step` is one
/// that runs.
void warn_without_int8(Notices& notices, const Graph& step, const RunOptions& options);

}  // namespace mezzo::detail
