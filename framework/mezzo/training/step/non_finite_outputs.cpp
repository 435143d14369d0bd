#include <mezzo/training/step/non_finite_outputs.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <mezzo/core/output.hpp>
#include <mezzo/training/step/loss_scaling.hpp>

namespace mezzo::detail {
namespace {

const char* verb_of(Phase phase) {
  switch (phase) {
    case Phase::train:
      return "train";
    case Phase::validate:
      return "evaluate";
    case Phase::test:
      return "test";
    case Phase::predict:
      break;
  }
  return "predict";
}

/// Key in TrainingState::told.
const std::string& notice_of(Phase phase) {
  static const std::array<std::string, 4> all{"train: not finite", "evaluate: not finite", "test: not finite",
                                              "predict: not finite"};
  return all[static_cast<std::size_t>(phase)];
}

}  // namespace

bool awaits_non_finite_output(const TrainingState& state, Phase phase) {
  return phase != Phase::train && state.told.count(notice_of(phase)) == 0;
}

void tell_of_non_finite_output(TrainingState& state, Phase phase, const std::string& output,
                               const std::optional<Overflow>& origin) {
  state.told.insert(notice_of(phase));
  warn(fmt::format("[Trainer] {}: \"{}\" is not finite under float16: {}", verb_of(phase), output, describe(origin)));
}

void tell_of_non_finite_output(TrainingState& state, Phase phase, const Graph& eager) {
  if (!computes_in_float16(eager)) return;
  const auto found = std::find_if(eager.outputs.begin(), eager.outputs.end(), [](const Graph::Output& output) {
    const Tensor numbers = output.value.tensor();
    return !all_finite(numbers.raw(), {numbers.shape(), numbers.dtype()});
  });
  if (found == eager.outputs.end()) return;
  tell_of_non_finite_output(state, phase, found->name, overflows_in(eager).behind_output(found->value));
}

}  // namespace mezzo::detail
