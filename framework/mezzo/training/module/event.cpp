#include <mezzo/training/module/event.hpp>

namespace mezzo::detail {
namespace {

const char* name_of(Stage stage) {
  switch (stage) {
    case Stage::fit:
      return "fit";
    case Stage::validate:
      return "validate";
    case Stage::test:
      return "test";
    case Stage::predict:
      break;
  }
  return "predict";
}

/// Hooks of an evaluation, which is a test or a validation.
void call_evaluation_hook(Module& module, const Occurrence& now) {
  const bool test = now.stage == Stage::test;
  switch (now.event) {
    case Event::test_begin:
      test ? module.on_test_start() : module.on_validation_start();
      return test ? module.on_test_epoch_start() : module.on_validation_epoch_start();
    case Event::test_end:
      return test ? module.on_test_epoch_end() : module.on_validation_epoch_end();
    case Event::validation_end:
      return test ? module.on_test_end() : module.on_validation_end();
    case Event::test_batch_begin:
      return test ? module.on_test_batch_start(*now.batch, now.number)
                  : module.on_validation_batch_start(*now.batch, now.number);
    case Event::test_batch_end:
      return test ? module.on_test_batch_end(*now.batch, now.number)
                  : module.on_validation_batch_end(*now.batch, now.number);
    default:
      return;
  }
}

}  // namespace

void call_hook(Callback& callback, const Occurrence& now, Logs& logs) {
  switch (now.event) {
    case Event::setup:
      return callback.setup(name_of(now.stage));
    case Event::teardown:
      return callback.teardown(name_of(now.stage));
    case Event::fit_begin:
      return callback.on_fit_start();
    case Event::fit_end:
      return callback.on_fit_end();
    case Event::sanity_begin:
      return callback.on_sanity_check_start();
    case Event::sanity_end:
      return callback.on_sanity_check_end();
    case Event::train_begin:
      return callback.on_train_begin(logs);
    case Event::train_end:
      return callback.on_train_end(logs);
    case Event::epoch_begin:
      return callback.on_epoch_begin(static_cast<int>(now.number), logs);
    case Event::epoch_end:
      return callback.on_epoch_end(static_cast<int>(now.number), logs);
    case Event::train_batch_begin:
      return callback.on_train_batch_begin(now.number, logs);
    case Event::train_batch_end:
      return callback.on_train_batch_end(now.number, logs);
    case Event::test_begin:
      return callback.on_test_begin(logs);
    case Event::test_end:
      return callback.on_test_end(logs);
    case Event::validation_end:
      if (now.stage == Stage::fit && !now.sanity) callback.on_validation_end(logs);
      return;
    case Event::test_batch_begin:
      return callback.on_test_batch_begin(now.number, logs);
    case Event::test_batch_end:
      return callback.on_test_batch_end(now.number, logs);
    case Event::predict_begin:
      return callback.on_predict_begin(logs);
    case Event::predict_end:
      return callback.on_predict_end(logs);
    case Event::predict_batch_begin:
      return callback.on_predict_batch_begin(now.number, logs);
    case Event::predict_batch_end:
      return callback.on_predict_batch_end(now.number, logs);
  }
}

void call_hook(Module& module, const Occurrence& now) {
  switch (now.event) {
    case Event::setup:
      return module.setup(name_of(now.stage));
    case Event::teardown:
      return module.teardown(name_of(now.stage));
    case Event::fit_begin:
      return module.on_fit_start();
    case Event::fit_end:
      return module.on_fit_end();
    case Event::train_begin:
      return module.on_train_start();
    case Event::train_end:
      return module.on_train_end();
    case Event::epoch_begin:
      return module.on_train_epoch_start();
    case Event::epoch_end:
      return module.on_train_epoch_end();
    case Event::train_batch_begin:
      return module.on_train_batch_start(*now.batch, now.number);
    case Event::train_batch_end:
      return module.on_train_batch_end(*now.outputs, *now.batch, now.number);
    case Event::predict_begin:
      module.on_predict_start();
      return module.on_predict_epoch_start();
    case Event::predict_end:
      module.on_predict_epoch_end();
      return module.on_predict_end();
    case Event::predict_batch_begin:
      return module.on_predict_batch_start(*now.batch, now.number);
    case Event::predict_batch_end:
      return module.on_predict_batch_end(*now.batch, now.number);
    default:
      return call_evaluation_hook(module, now);
  }
}

}  // namespace mezzo::detail
