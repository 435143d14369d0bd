// Resumes a training from the input, and from the input with new checksums.
#include <mezzo/mezzo.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace {

using namespace mezzo;

DataLoader loader_of() {
  const auto data = Dataset::from_tensors({{"x", Tensor({10, 3}), Role::input}, {"y", Tensor({10, 2}), Role::target}});
  return DataLoader(data, {.batch_size = 2, .workers = 0});
}

Sequential model_of() {
  Sequential model({Dense({.units = 2, .name = "d"}), BatchNormalization({.name = "n"})}, {.dtype = "mixed_float16"});
  model.compile({.optimizer = AdamW(), .loss = "mse"});
  return model;
}

struct Training {
  Training() { runner.rehearse(Stage::fit, batch); }

  void resume(const std::string& path) {
    const detail::Checkpoint checkpoint(path);
    checkpoint.resume(runner, batch,
                      {.loader = loader, .epoch = loader.size(), .whole_passes = false, .by_samples = false});
  }

  DataLoader loader = loader_of();
  HostBatch batch = *loader.epoch(0).next();
  Sequential model = model_of();
  detail::StepRunner runner{model, {}};
};

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  static Training training;
  const std::string path = file_of(bytes);
  try {
    training.resume(path);
    return;
  } catch (const Error&) {
  }
  training.resume(with_checksums(path));
}

std::vector<Bytes> seeds() {
  const mezzo_tests::Folder folder;
  Sequential model = model_of();
  Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(model, loader_of());
  Trainer::save_checkpoint(model, folder.path("a"));
  const Bytes whole = content_of(folder.path("a"));
  std::string unchecked = text_of(whole);
  unchecked.replace(unchecked.find("\"crc32\""), 7, "\"crc33\"");
  return {whole, bytes_of(unchecked)};
}

const Target target("checkpoint", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
