#include <mezzo/training/callbacks/gradient_accumulation_scheduler.hpp>

#include <iterator>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

const char* const scheduler_label = "[GradientAccumulationScheduler]";

}  // namespace

GradientAccumulationScheduler::GradientAccumulationScheduler(GradientAccumulationSchedulerOptions options)
    : scheduling_(std::move(options.scheduling)) {
  if (scheduling_.empty()) fail<ValueError>(scheduler_label, "scheduling must have entries; got none");
  for (const auto& [epoch, batches] : scheduling_) {
    if (epoch >= 0 && batches >= 1) continue;
    fail<ValueError>(scheduler_label, "scheduling must have epochs from 0 and numbers from 1; got {}: {}", epoch,
                     batches);
  }
}

int GradientAccumulationScheduler::accumulate_grad_batches(int epoch) const {
  const auto after = scheduling_.upper_bound(epoch);
  return after == scheduling_.begin() ? 1 : std::prev(after)->second;
}

void GradientAccumulationScheduler::on_train_begin(Logs&) {
  if (session().accumulate_grad_batches() == 1) return;
  fail<ValueError>(scheduler_label, "accumulate_grad_batches of the Trainer must be 1; got {}",
                   session().accumulate_grad_batches());
}

void GradientAccumulationScheduler::on_epoch_begin(int epoch, Logs&) {
  session().set_accumulate_grad_batches(accumulate_grad_batches(epoch));
}

}  // namespace mezzo
