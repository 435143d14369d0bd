#include <mezzo/training/step/non_finite_outputs.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <mezzo/core/output.hpp>
#include <mezzo/training/step/eager_overflow.hpp>

namespace mezzo::detail {
namespace {

const char* verb_of(Stage stage) {
  switch (stage) {
    case Stage::fit:
      return "train";
    case Stage::validate:
      return "evaluate";
    case Stage::test:
      return "test";
    case Stage::predict:
      break;
  }
  return "predict";
}

/// Key in Notices.
const std::string& notice_of(Stage stage) {
  static const std::array<std::string, 4> all{"train: not finite", "evaluate: not finite", "test: not finite",
                                              "predict: not finite"};
  return all[static_cast<std::size_t>(stage)];
}

}  // namespace

bool awaits_non_finite_output(const Notices& notices, Stage stage) {
  return stage != Stage::fit && !notices.has(notice_of(stage));
}

void warn_of_non_finite_output(Notices& notices, Stage stage, const std::string& output,
                               const std::optional<Overflow>& origin) {
  notices.first(notice_of(stage));
  warn(fmt::format("[Trainer] {}: \"{}\" is not finite under float16: {}", verb_of(stage), output, describe(origin)));
}

void warn_of_non_finite_output(Notices& notices, Stage stage, const Graph& eager) {
  if (!computes_in_float16(eager)) return;
  const auto found = std::find_if(eager.outputs.begin(), eager.outputs.end(), [](const Graph::Output& output) {
    const Tensor numbers = output.value.tensor();
    return !all_finite(numbers.raw(), {numbers.shape(), numbers.dtype()});
  });
  if (found == eager.outputs.end()) return;
  warn_of_non_finite_output(notices, stage, found->name, overflows_in(eager).behind_output(found->value));
}

}  // namespace mezzo::detail
