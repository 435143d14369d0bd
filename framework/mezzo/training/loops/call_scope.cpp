#include <mezzo/training/loops/call_scope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>

#include <mezzo/core/output.hpp>
#include <mezzo/training/module/event.hpp>
#include <mezzo/training/step/scheduler_steps.hpp>

namespace mezzo::detail {

CallScope::CallScope(Module& module, Stage stage, const CallSettings& options,
                     const std::function<void()>& count_batches)
    : module_(module), stage_(stage), options_(options) {
  if (stage == Stage::fit) handles_ = {SchedulerSteps(), PlateauSteps()};
  const Callbacks own = module.configure_callbacks();
  for (const CallbackHandle& handle : options.callbacks) {
    Callback& callback = handle.get();
    const auto same = [&](const CallbackHandle& other) {
      Callback& its = other.get();
      return typeid(its) == typeid(callback);
    };
    if (std::none_of(own.begin(), own.end(), same)) handles_.push_back(handle);
  }
  handles_.insert(handles_.end(), own.begin(), own.end());
  for (const CallbackHandle& handle : handles_) {
    if (options.writes || handle.get().on_all_ranks()) callbacks_.push_back(&handle.get());
  }
  const Occurrence now{.event = Event::setup, .stage = stage};
  Logs none;
  try {
    for (Callback* callback : callbacks_) call_hook(*callback, now, none);
    call_hook(module, now);
    if (options.make_loaders) {
      options.make_loaders();
      count_batches();
    }
  } catch (...) {
    tear_down();
    throw;
  }
}

CallScope::~CallScope() { tear_down(); }

void CallScope::tear_down() {
  const Occurrence now{.event = Event::teardown, .stage = stage_};
  const auto guarded = [](const auto& call) {
    try {
      call();
    } catch (const std::exception& error) {
      warn(fmt::format("[Trainer] teardown: {}", error.what()));
    }
  };
  Logs none;
  for (Callback* callback : callbacks_) {
    guarded([&] { call_hook(*callback, now, none); });
  }
  guarded([&] { call_hook(module_, now); });
}

}  // namespace mezzo::detail
