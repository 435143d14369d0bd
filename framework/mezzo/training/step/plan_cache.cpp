#include <mezzo/training/step/plan_cache.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/tuning.hpp>

namespace mezzo::detail {
namespace {

constexpr int plans_without_warning = 8;  // of one stage

/// `"x" axis 0 (32, 7, ...)`: first size in which a batch differs from the inputs of a plan; "" if there is none.
std::string first_difference(const std::vector<Spec>& inputs, const HostBatch& batch) {
  for (std::size_t i = 0; i < std::min(inputs.size(), batch.fields.size()); ++i) {
    const Shape& before = inputs[i].shape;
    const Shape& now = batch.fields[i].tensor.shape();
    for (std::size_t axis = 0; axis < std::min(before.size(), now.size()); ++axis) {
      if (before[axis] == now[axis]) continue;
      return fmt::format("\"{}\" axis {} ({}, {}, ...)", batch.fields[i].name, axis, before[axis], now[axis]);
    }
  }
  return {};
}

}  // namespace

std::uint64_t fields_signature(const HostBatch& batch) {
  std::uint64_t hash = 0;
  for (const NamedTensor& field : batch.fields) {
    hash = mix(hash, mix(key_of(field.name), static_cast<std::uint64_t>(field.role)));
  }
  return hash;
}

void StepSignature::set_batch(const HostBatch& batch) {
  inputs.resize(batch.fields.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].shape = batch.fields[i].tensor.shape();
    inputs[i].dtype = batch.fields[i].tensor.dtype();
  }
  fields = fields_signature(batch);
}

CompiledStep* PlanCache::find(const StepSignature& signature, std::size_t dataloader) const {
  const auto found = std::find_if(steps_.begin(), steps_.end(), [&](const auto& step) {
    return step->dataloader.value_or(dataloader) == dataloader && step->signature == signature;
  });
  return found == steps_.end() ? nullptr : found->get();
}

void PlanCache::make_room() {
  const auto older = [](const auto& a, const auto& b) { return a->used < b->used; };
  while (steps_.size() >= static_cast<std::size_t>(plan_cache_size())) {
    steps_.erase(std::min_element(steps_.begin(), steps_.end(), older));
  }
}

CompiledStep* PlanCache::add(std::unique_ptr<CompiledStep> step) {
  steps_.push_back(std::move(step));
  return steps_.back().get();
}

void PlanCache::count(Stage stage, const HostBatch& batch) {
  if (++counts_[static_cast<std::size_t>(stage)] != plans_without_warning + 1) return;
  std::string changes;
  for (const auto& step : steps_) {
    if (step->signature.stage == stage && changes.empty()) changes = first_difference(step->signature.inputs, batch);
  }
  warn(fmt::format("more than {} plans for one kind of step: what changes is {}", plans_without_warning,
                   changes.empty() ? "flags or policies of layers" : changes + "; pad or bucket the data"));
}

}  // namespace mezzo::detail
