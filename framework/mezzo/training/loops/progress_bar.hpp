#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

namespace detail {
/// Drawing of the bar of the library.
struct ProgressBarStyle {
  int refresh_rate = 1;  ///< batches between updates of the bar, at most ten a second; 0: only at ends
  bool leave = true;     ///< false: the bar of an epoch is drawn over that of the one before
  bool rich = false;     ///< colours, and a line of its own for validations
};
}  // namespace detail

/// Base of progress bars. A call that has one among its callbacks shows no other bar, whatever `verbose` and
/// enable_progress_bar say; with `enable_progress_bar = false` a Trainer refuses it. A bar of your own draws in hooks:
///
///     class Dots : public ProgressBar {
///       void on_train_batch_end(std::int64_t batch, Logs&) override {
///         write_output(fmt::format("{} {}\n", batch + 1, get_metrics()["loss"]));
///       }
///     };
class MEZZO_API ProgressBar : public Callback {
 public:
  /// Style of the library's bar that the loops draw; none: only hooks draw.
  virtual std::optional<detail::ProgressBarStyle> style() const { return {}; }
  bool on_all_ranks() const override { return false; }

 protected:
  /// Session::progress_bar_metrics().
  Logs get_metrics() const { return session().progress_bar_metrics(); }
};

struct TQDMProgressBarOptions {
  int refresh_rate = 1;  ///< batches between updates of the bar, at most ten a second; 0: only at ends of epochs
  bool leave = false;    ///< true: the bar of each epoch stays on a line of its own
};

/// The bar of one line, as lightning.pytorch.callbacks.TQDMProgressBar. In fit, evaluate and predict:
/// `Epoch 1/5: 100% 469/469 [00:12<00:00, 38.21it/s, loss=0.412, val_loss=0.388]`. If the output is not a terminal,
/// there is one line for each epoch.
class MEZZO_API TQDMProgressBar : public ProgressBar {
 public:
  /// A ValueError for a negative refresh_rate.
  explicit TQDMProgressBar(const TQDMProgressBarOptions& options = {});
  std::optional<detail::ProgressBarStyle> style() const override;

 private:
  TQDMProgressBarOptions options_;
};

struct RichProgressBarOptions {
  int refresh_rate = 1;  ///< batches between updates of the bar, at most ten a second; 0: only at ends of epochs
  bool leave = false;    ///< true: the bar of each epoch stays on a line of its own
};

/// A bar with colours, as lightning.pytorch.callbacks.RichProgressBar. A validation has a second line below that of the
/// epoch. If the output is not a terminal, it writes the lines of TQDMProgressBar.
class MEZZO_API RichProgressBar : public ProgressBar {
 public:
  /// A ValueError for a negative refresh_rate.
  explicit RichProgressBar(const RichProgressBarOptions& options = {});
  std::optional<detail::ProgressBarStyle> style() const override;

 private:
  RichProgressBarOptions options_;
};

}  // namespace mezzo
