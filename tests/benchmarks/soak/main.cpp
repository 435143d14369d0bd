// Resident memory of long runs.
//
// mezzo_soak steps|items|fits|all [--count N] [--lines N]
//
//   steps  20,000 training steps whose batches have changing shapes
//   items  100,000 samples of a loader, of which one in 97 can't be read, and fits that end with their errors
//   fits   50 fits of new models, with validation, loggers, checkpoints and early stopping
//
// Prints a line of JSON after each tenth of a run, and at its end the growth of the resident memory since the end of
// its second fifth. Exits with 1 if a whole run has grown by more than 5 %.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mezzo/core/output.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/mezzo.hpp>

namespace {

using namespace mezzo;

constexpr double allowed_growth = 0.05;

double resident_mib() {
  double size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Notes the resident memory along a run.
class Watch {
 public:
  Watch(std::string run, std::int64_t count, int lines) : run_(std::move(run)), count_(count), lines_(lines) {}

  void at(std::int64_t done) {
    if (done * lines_ / count_ == last_ * lines_ / count_ && done != count_) return;
    last_ = done;
    const double now = resident_mib();
    if (5 * done >= 2 * count_ && warm_ == 0) warm_ = now;
    end_ = now;
    std::cout << fmt::format("{{\"run\": \"{}\", \"done\": {}, \"resident_mib\": {:.1f}}}", run_, done, now)
              << std::endl;
  }

  /// True if the memory was flat.
  bool flat() const {
    const double growth = warm_ > 0 ? end_ / warm_ - 1 : 0;
    std::cout << fmt::format("{{\"run\": \"{}\", \"growth_percent\": {:.2f}}}", run_, 100 * growth) << std::endl;
    return growth <= allowed_growth;
  }

 private:
  std::string run_;
  std::int64_t count_, last_ = 0;
  int lines_;
  double warm_ = 0, end_ = 0;
};

/// Calls the watch after each step.
class Reporter : public Callback {
 public:
  explicit Reporter(Watch& watch) : watch_(watch) {}
  void on_train_batch_end(std::int64_t, Logs&) override { watch_.at(session().global_step()); }

 private:
  Watch& watch_;
};

/// Classifies texts of any length.
class Reader : public Module {
 public:
  Value training_step(const Batch& batch) override {
    const Value logits = head_(gru_(embedding_(batch["tokens"])));
    log("accuracy", accuracy(batch["label"], logits), {.prog_bar = true});
    return sparse_categorical_crossentropy(batch["label"], logits, {.from_logits = true});
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = Adam(1e-3)}}; }

 private:
  Embedding embedding_ = sub("embedding", Embedding(200, 16));
  GRU gru_ = sub("gru", GRU(16));
  Dense head_ = sub("head", Dense(3));
};

/// Texts of 4 to 43 tokens.
Dataset texts(std::int64_t count) {
  std::vector<Tensor> tokens, labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto length = static_cast<std::int64_t>(4 + philox(1, static_cast<std::uint64_t>(i))[0] % 40);
    std::vector<std::int64_t> ids;
    for (std::int64_t k = 0; k < length; ++k) ids.push_back((i * 7 + k * k) % 200);
    tokens.emplace_back(Shape{length}, ids);
    labels.emplace_back(Shape{}, std::vector<std::int64_t>{i % 3});
  }
  return Dataset::from_samples({{"tokens", tokens}, {"label", labels, Role::target}});
}

bool soak_steps(std::int64_t count, int lines) {
  Watch watch("steps", count, lines);
  Reader model;
  const DataLoader data(texts(2000), {.batch_size = 8, .shuffle = true});
  Trainer({.max_steps = count, .callbacks = {Reporter(watch)}, .enable_progress_bar = false}).fit(model, data);
  return watch.flat();
}

/// Points of which one in 97 can't be read.
Dataset broken_points(std::int64_t count) {
  return Dataset::from_function(
      {.size = count, .fields = {{"x", {16}}, {"y", {}, DType::int64, Role::target}}, .function = [](std::int64_t i) {
         if (i % 97 == 42) throw FileError(fmt::format("item {} is broken", i));
         return std::vector<Tensor>{Tensor({16}, std::vector<float>(16, static_cast<float>(i % 7))),
                                    Tensor({}, std::vector<std::int64_t>{i % 3})};
       }});
}

Sequential small_model() {
  Sequential model({Dense(32, {.activation = "relu"}), Dense(3)});
  model.compile({.optimizer = "adam", .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

bool soak_items(std::int64_t count, int lines) {
  Watch watch("items", count, lines);
  const DataLoader data(broken_points(std::min<std::int64_t>(count, 10'000)),
                        {.batch_size = 16, .shuffle = true, .workers = 2});
  Sequential model = small_model();
  std::int64_t seen = 0, broken = 0, failed_fits = 0;
  for (std::int64_t epoch = 0; seen < count; ++epoch) {
    for (std::int64_t first = 0; first < data.size() && seen < count;) {
      detail::BatchStream stream = data.epoch(epoch, first);
      try {
        while (const auto batch = stream.next()) {
          ++first;
          watch.at(std::min(seen += batch->size, count));
          if (seen >= count) break;
        }
      } catch (const FileError&) {  // goes on behind the batch
        ++first;
        ++broken;
        watch.at(std::min(seen += data.options().batch_size, count));
      }
    }
    try {
      Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(model, data);
    } catch (const FileError&) {
      ++failed_fits;
    }
  }
  std::cout << fmt::format("{{\"broken_batches\": {}, \"failed_fits\": {}}}", broken, failed_fits) << std::endl;
  return watch.flat();
}

bool soak_fits(std::int64_t count, int lines) {
  Watch watch("fits", count, lines);
  std::string folder = (std::filesystem::temp_directory_path() / "mezzo-soak-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw FileError("no temporary folder");
  const Tensor x({512, 16}, std::vector<float>(std::size_t{512} * 16, 0.5F));
  const Tensor y({512}, std::vector<std::int64_t>(512, 1));
  const Dataset points = Dataset::from_tensors({{"x", x}, {"y", y, Role::target}});
  for (std::int64_t i = 0; i < count; ++i) {
    Sequential model = small_model();
    const DataLoader data(points, {.batch_size = 32, .shuffle = true});
    Trainer({.max_epochs = 3,
             .callbacks = {ModelCheckpoint({.dirpath = folder + "/checkpoints", .monitor = "val_loss"}),
                           EarlyStopping({.monitor = "val_loss", .patience = 3})},
             .logger = {loggers::CSVLogger(folder), loggers::TensorBoardLogger(folder)},
             .profiler = "simple",
             .log_every_n_steps = 1,
             .default_root_dir = folder})
        .fit(model, data, data);
    watch.at(i + 1);
  }
  std::filesystem::remove_all(folder);
  return watch.flat();
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string run = count > 1 ? arguments[1] : "";
  std::int64_t number = 0;
  int lines = 10;
  for (int i = 2; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--count") number = std::stoll(arguments[i + 1]);
    if (std::string(arguments[i]) == "--lines") lines = std::stoi(arguments[i + 1]);
  }
  const bool all = run == "all";
  if ((!all && run != "steps" && run != "items" && run != "fits") || number < 0 || lines < 1) {
    std::cerr << "usage: mezzo_soak steps|items|fits|all [--count N] [--lines N]\n";
    return 2;
  }
  set_output([](const std::string&) {});  // bars and reports
  bool flat = true;
  if (all || run == "steps") flat = soak_steps(number > 0 ? number : 20'000, lines) && flat;
  if (all || run == "items") flat = soak_items(number > 0 ? number : 100'000, lines) && flat;
  if (all || run == "fits") flat = soak_fits(number > 0 ? number : 50, lines) && flat;
  return flat || number > 0 ? 0 : 1;  // a short run is still warming up
} catch (const std::exception& error) {
  std::fprintf(stderr, "mezzo_soak: %s\n", error.what());
  return 1;
}
