#include <mezzo/training/events/event.hpp>

namespace mezzo::detail {

void call_hook(Callback& callback, Event event, std::int64_t number, Logs& logs) {
  switch (event) {
    case Event::train_begin:
      return callback.on_train_begin(logs);
    case Event::train_end:
      return callback.on_train_end(logs);
    case Event::epoch_begin:
      return callback.on_epoch_begin(static_cast<int>(number), logs);
    case Event::epoch_end:
      return callback.on_epoch_end(static_cast<int>(number), logs);
    case Event::train_batch_begin:
      return callback.on_train_batch_begin(number, logs);
    case Event::train_batch_end:
      return callback.on_train_batch_end(number, logs);
    case Event::test_begin:
      return callback.on_test_begin(logs);
    case Event::test_end:
      return callback.on_test_end(logs);
    case Event::test_batch_begin:
      return callback.on_test_batch_begin(number, logs);
    case Event::test_batch_end:
      return callback.on_test_batch_end(number, logs);
    case Event::predict_begin:
      return callback.on_predict_begin(logs);
    case Event::predict_end:
      return callback.on_predict_end(logs);
    case Event::predict_batch_begin:
      return callback.on_predict_batch_begin(number, logs);
    case Event::predict_batch_end:
      return callback.on_predict_batch_end(number, logs);
  }
}

}  // namespace mezzo::detail
