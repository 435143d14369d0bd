#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>
#include <mezzo/training/loops/loop_options.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

namespace detail {
class EventFile;
}

struct TensorBoardOptions {
  std::string log_dir = "logs";             ///< folder of the files; they are in its folders "train" and "validation"
  int histogram_freq = 0;                   ///< histograms of the weights every n epochs; 0: none
  bool write_steps_per_second = false;      ///< writes `epoch_steps_per_second`, and by batch `batch_steps_per_second`
  detail::Frequency update_freq = "epoch";  ///< "epoch", or n: also the numbers of every n batches ("batch": 1)
};

/// Writes event files for TensorBoard: `tensorboard --logdir logs`. Names are Keras': `epoch_loss` and other numbers of
/// epochs, with `epoch_learning_rate`; `batch_loss` by update_freq; `evaluation_loss_vs_iterations` of evaluations;
/// histograms `<weight>/histogram`. There are no graphs, images, profiles and embeddings: Keras' options for them
/// (write_graph, write_images, profile_batch, embeddings_freq, embeddings_metadata) are left out.
class MEZZO_API TensorBoard : public Callback {
 public:
  /// A ValueError for an empty log_dir or a negative histogram_freq.
  explicit TensorBoard(TensorBoardOptions options = {});
  template <class S, detail::IfName<S> = 0>
  explicit TensorBoard(const S& log_dir, TensorBoardOptions options = {})
      : TensorBoard(with_folder(std::move(options), log_dir)) {}

  void on_train_begin(Logs& logs) override;
  bool on_all_ranks() const override { return false; }
  void on_train_end(Logs& logs) override;
  void on_epoch_begin(int epoch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  void on_train_batch_begin(std::int64_t batch, Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_test_end(Logs& logs) override;
  void on_exception(const std::exception& error) override;

 private:
  static TensorBoardOptions with_folder(TensorBoardOptions options, std::string log_dir);

  using Clock = std::chrono::steady_clock;

  detail::EventFile& train();
  detail::EventFile& validation();
  void flush();
  void close();

  TensorBoardOptions options_;
  std::shared_ptr<detail::EventFile> train_, validation_;
  std::int64_t batches_ = 0, steps_before_ = 0;
  Clock::time_point epoch_start_, batch_start_;
};

}  // namespace mezzo
