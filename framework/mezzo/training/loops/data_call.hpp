#pragma once
#include <exception>
#include <optional>
#include <string>

#include <mezzo/training/module/data_module.hpp>
#include <mezzo/training/step/process_group.hpp>

namespace mezzo::detail {

/// A DataModule in a call of the Trainer. Calls prepare_data() and setup() when it is made. As the first callback of
/// the call it has the state and on_exception(). teardown() runs with that of the callbacks, or when the object ends
/// before it.
class DataCall {
 public:
  /// One process of each machine calls prepare_data(), and the others of the group wait for it.
  DataCall(DataModule& data, const std::string& stage, const ProcessGroup& group);
  /// Errors of teardown() become warnings.
  ~DataCall();
  DataCall(const DataCall&) = delete;
  DataCall& operator=(const DataCall&) = delete;

  /// Restores the state before the loaders are made.
  void load(const CallbackState& state);

  DataModule& data() const { return data_; }
  Callback& callback() { return callback_; }

  /// Name of the state in checkpoints.
  static constexpr const char* state_name = "DataModule";

 private:
  class AsCallback : public Callback {
   public:
    explicit AsCallback(DataCall& call) : call_(call) {}
    void teardown(const std::string& stage) override { call_.tear_down(stage); }
    void on_exception(const std::exception& error) override { call_.data_.on_exception(error); }
    std::string state_name() const override { return DataCall::state_name; }
    CallbackState state() const override { return call_.data_.state_dict(); }
    void set_state(const CallbackState& state) override;

   private:
    DataCall& call_;
  };

  void tear_down(const std::string& stage);

  DataModule& data_;
  std::string stage_;
  bool torn_down_ = false, loaded_ = false;
  AsCallback callback_{*this};
};

}  // namespace mezzo::detail
