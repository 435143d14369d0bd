#pragma once
#include <optional>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// True if an output of such a step that isn't finite would be told of: of predictions and evaluations in float16, once
/// for each kind of call of a model.
bool awaits_non_finite_output(const TrainingState& state, Phase phase);

/// Warns of such an output and its origin.
void tell_of_non_finite_output(TrainingState& state, Phase phase, const std::string& output,
                               const std::optional<Overflow>& origin);

/// The same for the first such output of an eager trace, if it computes in float16.
void tell_of_non_finite_output(TrainingState& state, Phase phase, const Graph& eager);

}  // namespace mezzo::detail
