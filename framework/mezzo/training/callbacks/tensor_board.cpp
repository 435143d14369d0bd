#include <mezzo/training/callbacks/tensor_board.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/callbacks/learning_rates.hpp>
#include <mezzo/training/loggers/event_file.hpp>

namespace mezzo {
namespace {

const char* const board_label = "[TensorBoard]";

double per_second(std::int64_t steps, std::chrono::steady_clock::time_point start) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return seconds > 0 ? static_cast<double>(steps) / seconds : 0;
}

}  // namespace

TensorBoard::TensorBoard(TensorBoardOptions options) : options_(std::move(options)) {
  if (options_.log_dir.empty()) fail<ValueError>(board_label, "log_dir must not be empty");
  if (options_.histogram_freq < 0) {
    fail<ValueError>(board_label, "histogram_freq must be 0 or more; got {}", options_.histogram_freq);
  }
}

TensorBoardOptions TensorBoard::with_folder(TensorBoardOptions options, std::string log_dir) {
  if (options.log_dir != TensorBoardOptions().log_dir) {
    fail<ValueError>(board_label, "log_dir must be given once; got \"{}\" and \"{}\"", log_dir, options.log_dir);
  }
  options.log_dir = std::move(log_dir);
  return options;
}

detail::EventFile& TensorBoard::train() {
  if (!train_) train_ = std::make_shared<detail::EventFile>(options_.log_dir + "/train", board_label);
  return *train_;
}

detail::EventFile& TensorBoard::validation() {
  if (!validation_) validation_ = std::make_shared<detail::EventFile>(options_.log_dir + "/validation", board_label);
  return *validation_;
}

void TensorBoard::flush() {
  if (train_) train_->flush();
  if (validation_) validation_->flush();
}

void TensorBoard::close() {
  train_.reset();
  validation_.reset();
}

void TensorBoard::on_train_begin(Logs&) {
  close();
  batches_ = 0;
}

void TensorBoard::on_epoch_begin(int, Logs&) {
  steps_before_ = session().global_step();
  epoch_start_ = Clock::now();
}

void TensorBoard::on_train_batch_begin(std::int64_t, Logs&) { batch_start_ = Clock::now(); }

void TensorBoard::on_train_batch_end(std::int64_t, Logs& logs) {
  ++batches_;
  if (options_.update_freq.by_epoch() || batches_ % options_.update_freq.batches() != 0) return;
  if (options_.write_steps_per_second) train().scalar("batch_steps_per_second", per_second(1, batch_start_), batches_);
  for (const auto& [name, number] : logs) train().scalar("batch_" + name, number, batches_);
}

void TensorBoard::on_epoch_end(int epoch, Logs& logs) {
  Logs all = logs;
  detail::add_learning_rates(session(), all);
  if (options_.write_steps_per_second) {
    detail::set_log(all, "steps_per_second", per_second(session().global_step() - steps_before_, epoch_start_));
  }
  for (const auto& [name, number] : all) {
    const bool validates = name.rfind("val_", 0) == 0;
    (validates ? validation() : train()).scalar("epoch_" + (validates ? name.substr(4) : name), number, epoch);
  }
  if (options_.histogram_freq > 0 && epoch % options_.histogram_freq == 0) {
    session().read_weights([&] {
      for (const auto& [path, weight] : module().named_weights()) {
        train().histogram(path + "/histogram", weight.value(), epoch);
      }
    });
  }
  flush();
}

void TensorBoard::on_test_end(Logs& logs) {
  const OptimizerConfigs& optimizers = session().optimizers();
  if (optimizers.empty()) return;
  const std::int64_t iterations = optimizers.front().optimizer->iterations();
  for (const auto& [name, number] : logs) {
    validation().scalar(fmt::format("evaluation_{}_vs_iterations", name), number, iterations);
  }
  flush();
}

void TensorBoard::on_train_end(Logs&) {
  flush();
  close();
}

void TensorBoard::on_exception(const std::exception&) { close(); }

}  // namespace mezzo
