#pragma once
#include <cstdint>

#include <mezzo/training/callbacks/callback.hpp>

namespace mezzo::detail {

/// Points of the loops at which hooks run, outside of the compiled steps.
enum class Event {
  train_begin,
  train_end,
  epoch_begin,
  epoch_end,
  train_batch_begin,
  train_batch_end,
  test_begin,
  test_end,
  test_batch_begin,
  test_batch_end,
  predict_begin,
  predict_end,
  predict_batch_begin,
  predict_batch_end
};

/// Calls the hook of an event. `number` is the epoch or batch of events that have one.
void call_hook(Callback& callback, Event event, std::int64_t number, Logs& logs);

}  // namespace mezzo::detail
