#include <mezzo/training/loops/data_call.hpp>

#include <fmt/format.h>

#include <utility>

#include <mezzo/core/output.hpp>

namespace mezzo::detail {

DataCall::DataCall(DataModule& data, const std::string& stage, const ProcessGroup& group) : data_(data), stage_(stage) {
  try {
    group.once_per_machine([&] { data.prepare_data(); });
    data.setup(stage);
  } catch (...) {
    tear_down(stage);
    throw;
  }
}

DataCall::~DataCall() { tear_down(stage_); }

void DataCall::tear_down(const std::string& stage) {
  if (torn_down_) return;
  torn_down_ = true;
  try {
    data_.teardown(stage);
  } catch (const std::exception& error) {
    warn(fmt::format("[Trainer] teardown: {}", error.what()));
  }
}

void DataCall::load(const CallbackState& state) {
  data_.load_state_dict(state);
  loaded_ = true;
}

void DataCall::AsCallback::set_state(const CallbackState& state) {
  if (!std::exchange(call_.loaded_, false)) call_.data_.load_state_dict(state);
}

}  // namespace mezzo::detail
