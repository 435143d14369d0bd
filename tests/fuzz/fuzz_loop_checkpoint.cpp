// Loads the input into a training loop, and the input with new checksums.
#include <mezzo/mezzo.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace {

using namespace mezzo;

/// The parts of a loop after an update.
struct Loop {
  Loop() {
    model.build({-1, 3});
    checkpoint.add("m", model).add("adam", optimizer).add("s", scaler).add("step", step);
    step({Tensor({4, 3})});
  }

  Sequential model = Sequential({Dense({.units = 2, .name = "d"}), BatchNormalization({.name = "n"})});
  AdamW optimizer{1e-3};
  GradScaler scaler;
  StepFunction step = compile_step([this](const Values& in) {
    const auto [loss, gradients] = value_and_grad(model, [&] { return scaler.scale(mean(square(model(in[0])))); });
    scaler.step(optimizer, gradients);
    scaler.update();
    return loss;
  });
  LoopCheckpoint checkpoint;
};

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  static const Loop loop;
  const std::string path = file_of(bytes);
  try {
    loop.checkpoint.load(path);
    return;
  } catch (const Error&) {
  }
  loop.checkpoint.load(with_checksums(path));
}

std::vector<Bytes> seeds() {
  const mezzo_tests::Folder folder;
  const Loop loop;
  loop.checkpoint.save(folder.path("a"));
  return {content_of(folder.path("a"))};
}

const Target target("loop_checkpoint", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
