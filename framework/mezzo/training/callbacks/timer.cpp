#include <mezzo/training/callbacks/timer.hpp>

#include <chrono>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace {

const char* const timer_label = "[Timer]";

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Timer::Timer(TimerOptions options)
    : options_(std::move(options)), spans_{{"train", {}}, {"validate", {}}, {"test", {}}, {"predict", {}}} {
  if (options_.interval != "step" && options_.interval != "epoch") {
    fail_unknown(timer_label, "interval", options_.interval, {"step", "epoch"});
  }
}

const Timer::Span& Timer::span_of(const std::string& stage) const {
  const auto found = spans_.find(stage);
  if (found != spans_.end()) return found->second;
  fail_unknown(timer_label, "stage", stage, {"train", "validate", "test", "predict"});
}

std::optional<double> Timer::start_time(const std::string& stage) const { return span_of(stage).start; }

std::optional<double> Timer::end_time(const std::string& stage) const { return span_of(stage).end; }

double Timer::time_elapsed(const std::string& stage) const {
  const Span& span = span_of(stage);
  const double before = stage == "train" ? offset_ : 0;
  return span.start ? span.end.value_or(clock_seconds()) - *span.start + before : before;
}

std::optional<double> Timer::time_remaining(const std::string& stage) const {
  const double elapsed = time_elapsed(stage);
  return options_.duration ? options_.duration->seconds() - elapsed : std::optional<double>();
}

std::string Timer::evaluation() const { return session().stage() == Stage::test ? "test" : "validate"; }

void Timer::begin(const std::string& stage) { spans_[stage] = {clock_seconds(), {}}; }

void Timer::on_train_begin(Logs&) {
  offset_ = 0;
  begin("train");
  check();
}

void Timer::on_train_end(Logs&) { spans_["train"].end = clock_seconds(); }

void Timer::on_train_batch_end(std::int64_t, Logs&) {
  if (options_.interval == "step") check();
}

void Timer::on_epoch_end(int, Logs&) {
  if (options_.interval == "epoch") check();
}

void Timer::on_test_begin(Logs&) { begin(evaluation()); }

void Timer::on_test_end(Logs&) { spans_[evaluation()].end = clock_seconds(); }

void Timer::on_predict_begin(Logs&) { begin("predict"); }

void Timer::on_predict_end(Logs&) { spans_["predict"].end = clock_seconds(); }

void Timer::check() {
  if (!options_.duration || time_elapsed() < options_.duration->seconds() || session().stopping()) return;
  session().stop();
  if (options_.verbose) {
    detail::write_line(
        fmt::format("{} the time limit of {} s is reached: training stops", timer_label, options_.duration->seconds()));
  }
}

CallbackState Timer::state() const {
  return {.numbers = {{"time_elapsed", time_elapsed()}}, .tensors = {}, .texts = {}};
}

void Timer::set_state(const CallbackState& state) {
  offset_ = detail::number_in(state, "time_elapsed").value_or(0);
  check();
}

}  // namespace mezzo
