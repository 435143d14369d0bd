#include <mezzo/training/step/logged.hpp>

#include <algorithm>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

LogTargets LogTargets::of(const std::string& name, const LogOptions& options, bool training) {
  static const std::vector<std::string> reductions{"mean", "sum", "min", "max"};
  const auto found = std::find(reductions.begin(), reductions.end(), options.reduce_fx);
  if (found == reductions.end()) fail_unknown("[Module]", "reduce_fx", options.reduce_fx, reductions);
  LogTargets out{.prog_bar = options.prog_bar,
                 .history = options.on_epoch.value_or(true),
                 .logger_step = options.logger && options.on_step.value_or(training),
                 .logger_epoch = options.logger && options.on_epoch.value_or(!training),
                 .reduction = static_cast<Reduction>(found - reductions.begin()),
                 .add_dataloader_idx = options.add_dataloader_idx};
  if (!out.prog_bar && !out.history && !out.logger_step) {
    fail<ValueError>("[Module]",
                     "log(\"{}\", ...): on_step, on_epoch or prog_bar must be true; got false for all of them", name);
  }
  return out;
}

}  // namespace mezzo::detail
