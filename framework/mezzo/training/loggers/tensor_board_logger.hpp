#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/training/loggers/run_folder.hpp>
#include <mezzo/training/module/logger.hpp>

namespace mezzo::loggers {

struct TensorBoardLoggerOptions {
  std::string name = "mezzo_logs";  ///< folder in save_dir; "": none
  LogVersion version{};             ///< folder in it; default: "version_0" or the next free number
  bool log_graph = false;           ///< writes the graph of the module at the start of fit
  bool default_hp_metric = true;    ///< log_hyperparams() without metrics writes the number "hp_metric", -1
  std::string prefix{};             ///< put in front of names: "prefix-loss"
  std::string sub_dir{};            ///< folder in that of the version; "": none
};

/// Writes an event file for TensorBoard to `save_dir/name/version/sub_dir`, and hyperparameters to hparams.yaml beside
/// it, as Lightning does: `tensorboard --logdir logs`. Numbers are float32. A folder of a given version is continued by
/// a further event file, which TensorBoard joins to the others.
class MEZZO_API TensorBoardLogger : public Logger {
 public:
  /// A ValueError for an empty save_dir.
  explicit TensorBoardLogger(const std::string& save_dir, const TensorBoardLoggerOptions& options = {});

  /// This and the others: a FileError if a file can't be written.
  void log_metrics(const Logs& metrics, std::int64_t step) override;

  /// Writes hyperparameters for the page HPARAMS, which shows all numbers of the run as their metrics. At the end of
  /// the run finalize() adds its status.
  void log_hyperparams(const Hyperparameters& params) override;

  /// The same, with numbers that are logged at step 0. HPARAMS shows only these names; later numbers of these names
  /// replace them there.
  void log_hyperparams(const Hyperparameters& params, const Logs& metrics);

  /// With the option log_graph: writes the ops of a call of the module for the page GRAPHS, with the paths of layers as
  /// names. A module that is not called as a layer has its layers as nodes, without edges.
  void log_graph(Module& module) override;

  /// Writes a text in Markdown.
  void log_text(const std::string& tag, const std::string& text, std::int64_t step);

  /// Writes a picture (height, width), (height, width, 1) or (height, width, 3), uint8, or floats from 0 to 1. Numbers
  /// outside are clipped, and NaN is 0. A ShapeError or DTypeError for another array, an Error if mezzo was built
  /// without libpng.
  void log_image(const std::string& tag, const Tensor& image, std::int64_t step);

  /// Writes pictures of one size under one tag: (samples, height, width, channels).
  void log_images(const std::string& tag, const Tensor& images, std::int64_t step);

  /// Writes a histogram of the elements, in 30 buckets. Non-finite elements are left out.
  void log_histogram(const std::string& tag, const Tensor& values, std::int64_t step);

  std::string log_dir() const override;  ///< makes the folder
  std::string version() const;           ///< folder of the version, for other loggers of the run
  void save() override;
  void finalize(const std::string& status) override;

 private:
  struct State;
  detail::Held<State> state_;
};

}  // namespace mezzo::loggers
