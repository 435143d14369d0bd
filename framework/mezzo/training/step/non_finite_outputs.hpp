#pragma once
#include <optional>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/training/module/stage.hpp>
#include <mezzo/training/step/notices.hpp>

namespace mezzo::detail {

/// True if an output of such a step that isn't finite causes a warning: in predictions and evaluations in float16, once
/// for each kind of call of a model.
bool awaits_non_finite_output(const Notices& notices, Stage stage);

/// Warns of such an output and its origin.
void warn_of_non_finite_output(Notices& notices, Stage stage, const std::string& output,
                               const std::optional<Overflow>& origin);

/// The same for the first such output of an eager trace, if it computes in float16.
void warn_of_non_finite_output(Notices& notices, Stage stage, const Graph& eager);

}  // namespace mezzo::detail
