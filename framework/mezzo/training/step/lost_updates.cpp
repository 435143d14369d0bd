#include <mezzo/training/step/lost_updates.hpp>

#include <fmt/format.h>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>

namespace mezzo::detail {

void warn_of_lost_updates(Notices& notices, const UpdateCount& updates, int epoch) {
  if (!updates.stalls() || !notices.first("lost updates")) return;
  const char* const remedies = updates.dtype == DType::bfloat16
                                   ? "the optimizer's stochastic_rounding or kahan_summation, or its "
                                     "split_master_weights with precision \"bf16-mixed\""
                                   : "the optimizer's kahan_summation, or precision \"16-mixed\"";
  warn(fmt::format(
      "[Trainer] epoch {}: {:.0f} % of the updates of {} weights were lost by rounding; what keeps them: {}", epoch + 1,
      100 * updates.lost / updates.made, updates.dtype, remedies));
}

}  // namespace mezzo::detail
