#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/loops/limits.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct TimerOptions {
  std::optional<detail::Duration>
      duration{};                 ///< stops fit after this time of training and validation; not given: no limit
  std::string interval = "step";  ///< checks the limit after each "step" or "epoch"
  bool verbose = true;            ///< prints when the limit is reached
};

/// Measures the times of fit, validation, test and predict, and stops fit at a limit. Checkpoints keep the time of
/// training, so that the limit holds for all runs of a training. Stages are "train", "validate", "test" and "predict";
/// functions throw a NameError for other names. Times are in seconds of a clock that starts anywhere.
class MEZZO_API Timer : public Callback {
 public:
  /// A NameError for another interval.
  explicit Timer(TimerOptions options = {});

  std::optional<double> start_time(const std::string& stage = "train") const;  ///< none before the stage
  std::optional<double> end_time(const std::string& stage = "train") const;    ///< none before its end
  double time_elapsed(const std::string& stage = "train") const;  ///< time of a stage; for "train", including the runs
                                                                  ///< before a resume
  std::optional<double> time_remaining(const std::string& stage = "train") const;  ///< none without a limit

  void on_train_begin(Logs& logs) override;
  void on_train_end(Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  void on_test_begin(Logs& logs) override;
  void on_test_end(Logs& logs) override;
  void on_predict_begin(Logs& logs) override;
  void on_predict_end(Logs& logs) override;
  std::string state_name() const override { return "Timer"; }
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;

 private:
  struct Span {
    std::optional<double> start, end;
  };
  const Span& span_of(const std::string& stage) const;
  /// Stage of the on_test hooks.
  std::string evaluation() const;
  void begin(const std::string& stage);
  void check();

  TimerOptions options_;
  std::map<std::string, Span> spans_;
  double offset_ = 0;  // seconds of training before a resume
};

}  // namespace mezzo
