#pragma once
#include <cstdint>

#include <mezzo/data/batch.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// Points of the loops at which hooks run, outside of the compiled steps.
enum class Event {
  setup,
  teardown,
  fit_begin,
  fit_end,
  sanity_begin,
  sanity_end,
  train_begin,
  train_end,
  epoch_begin,
  epoch_end,
  train_batch_begin,
  train_batch_end,
  test_begin,
  test_end,
  validation_end,  ///< follows test_end, when the numbers have their names in History
  test_batch_begin,
  test_batch_end,
  predict_begin,
  predict_end,
  predict_batch_begin,
  predict_batch_end
};

/// An event with the arguments of its hooks.
struct Occurrence {
  Event event;
  Stage stage = Stage::fit;
  bool sanity = false;      ///< during the validation that precedes the training
  std::int64_t number = 0;  ///< epoch or batch
  const HostBatch* batch = nullptr;
  const Logs* outputs = nullptr;  ///< numbers of the training step
};

/// Calls the hook of an event.
void call_hook(Callback& callback, const Occurrence& now, Logs& logs);
void call_hook(Module& module, const Occurrence& now);

}  // namespace mezzo::detail
