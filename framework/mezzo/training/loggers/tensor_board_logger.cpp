#include <mezzo/training/loggers/tensor_board_logger.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/encode.hpp>
#include <mezzo/training/loggers/event_file.hpp>
#include <mezzo/training/loggers/graph_def.hpp>
#include <mezzo/training/loggers/hyperparameters_file.hpp>
#include <mezzo/training/loggers/log_text.hpp>
#include <mezzo/training/loggers/summaries.hpp>

namespace mezzo::loggers {
namespace {

const char* const board_label = "[loggers::TensorBoardLogger]";

/// Numbers from 0 to 1 as uint8.
Tensor as_bytes(const Tensor& image) {
  if (image.dtype() == DType::uint8) return image;
  if (!is_floating(image.dtype())) {
    fail<DTypeError>(board_label, "a picture must be uint8, or floats from 0 to 1; got {}", image.dtype());
  }
  std::vector<double> numbers = image.to_doubles();
  for (double& x : numbers) x = std::isnan(x) ? 0 : std::round(255 * std::clamp(x, 0.0, 1.0));
  return Tensor(image.shape(), numbers).cast(DType::uint8);
}

/// PNG files of pictures (samples, height, width, channels).
std::vector<std::string> png_files(const Tensor& images) {
  const Shape& shape = images.shape();
  const Shape size{shape[1], shape[2], shape[3]};
  const std::size_t bytes = static_cast<std::size_t>(element_count(size));
  std::vector<std::string> files;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    Tensor image = Tensor::uninitialized(size, DType::uint8);
    const auto* first = static_cast<const char*>(images.raw()) + static_cast<std::size_t>(i) * bytes;
    std::copy_n(first, bytes, static_cast<char*>(image.mutable_raw()));
    const detail::Bytes file = image::encode_png(image);
    files.emplace_back(file.begin(), file.end());
  }
  return files;
}

}  // namespace

struct TensorBoardLogger::State {
  detail::RunFolder folder;
  TensorBoardLoggerOptions options;
  Hyperparameters hyperparams{};
  std::unique_ptr<detail::EventFile> events{};
  bool running = false;  ///< hyperparameters are written, the status isn't

  std::string log_dir() {
    return options.sub_dir.empty() ? folder.path() : (std::filesystem::path(folder.path()) / options.sub_dir).string();
  }

  detail::EventFile& file() {
    if (!events) events = std::make_unique<detail::EventFile>(log_dir(), board_label);
    return *events;
  }

  void write(const detail::ProtoMessage& summary, std::int64_t step) {
    file().summary(summary, step);
    file().flush();
  }

  void write_hyperparams(const Hyperparameters& params) {
    detail::merge(hyperparams, params);
    write(detail::hparams_start_summary(hyperparams), 0);  // makes the folder
    detail::write_yaml(log_dir() + "/hparams.yaml", board_label, hyperparams);
    running = true;
  }
};

TensorBoardLogger::TensorBoardLogger(const std::string& save_dir, const TensorBoardLoggerOptions& options)
    : state_(std::make_shared<State>(
          State{.folder = {board_label, save_dir, options.name, options.version}, .options = options})) {}

void TensorBoardLogger::log_metrics(const Logs& metrics, std::int64_t step) {
  if (metrics.empty()) return;
  for (const auto& [name, number] : metrics) {
    state_->file().scalar(detail::prefixed(state_->options.prefix, name), number, step);
  }
  state_->file().flush();
}

void TensorBoardLogger::log_hyperparams(const Hyperparameters& params) {
  if (state_->options.default_hp_metric) log_metrics({{"hp_metric", -1}}, 0);
  state_->write_hyperparams(params);
}

void TensorBoardLogger::log_hyperparams(const Hyperparameters& params, const Logs& metrics) {
  log_metrics(metrics, 0);
  std::vector<std::string> names;
  for (const auto& entry : metrics) names.push_back(detail::prefixed(state_->options.prefix, entry.first));
  state_->write(detail::hparams_list_summary(params, names), 0);
  state_->write_hyperparams(params);
}

void TensorBoardLogger::log_graph(Module& module) {
  if (!state_->options.log_graph) return;
  state_->file().graph(detail::graph_def(module));
  state_->file().flush();
}

void TensorBoardLogger::log_text(const std::string& tag, const std::string& text, std::int64_t step) {
  state_->write(detail::text_summary(tag, text), step);
}

void TensorBoardLogger::log_image(const std::string& tag, const Tensor& image, std::int64_t step) {
  Shape shape = image.shape();
  if (shape.size() != 2 && shape.size() != 3) {
    fail<ShapeError>(board_label, "a picture must have shape (height, width) or (height, width, channels); got {}",
                     shape);
  }
  if (shape.size() == 2) shape.push_back(1);
  shape.insert(shape.begin(), 1);
  log_images(tag, image.reshape(shape), step);
}

void TensorBoardLogger::log_images(const std::string& tag, const Tensor& images, std::int64_t step) {
  const Shape& shape = images.shape();
  if (shape.size() != 4 || element_count(shape) == 0 || (shape[3] != 1 && shape[3] != 3)) {
    fail<ShapeError>(board_label, "pictures must have shape (samples, height, width, 1 or 3); got {}", shape);
  }
  state_->write(detail::images_summary(tag, png_files(as_bytes(images)), shape[2], shape[1]), step);
}

void TensorBoardLogger::log_histogram(const std::string& tag, const Tensor& values, std::int64_t step) {
  state_->file().histogram(tag, values, step);
  state_->file().flush();
}

std::string TensorBoardLogger::log_dir() const { return state_->log_dir(); }

std::string TensorBoardLogger::version() const { return state_->folder.version(); }

void TensorBoardLogger::save() {
  if (state_->events) state_->events->flush();
}

void TensorBoardLogger::finalize(const std::string& status) {
  using detail::RunStatus;
  if (std::exchange(state_->running, false)) {
    const RunStatus end = status == "success"  ? RunStatus::success
                          : status == "failed" ? RunStatus::failure
                                               : RunStatus::unknown;
    state_->write(detail::hparams_end_summary(end), 0);
  }
  save();
  state_->events.reset();
}

}  // namespace mezzo::loggers
