// Finetunes torchvision's ResNet-18 on the 37 breeds of Oxford-IIIT Pet, in bfloat16.
//
//   finetune_resnet_pets DATA WEIGHTS [EPOCHS [BATCH_SIZE [IMAGE_SIZE]]]
//
// DATA        folder with images/ and annotations/, as https://www.robots.ox.ac.uk/~vgg/data/pets distributes it
// WEIGHTS     resnet18's state_dict as a safetensors file, with its head of 1000 classes
// EPOCHS      5
// BATCH_SIZE  32
// IMAGE_SIZE  224, in pixels
//
// One way to make WEIGHTS, in Python:
//   from safetensors.torch import save_file
//   from torchvision.models import resnet18
//   save_file(resnet18(weights="IMAGENET1K_V1").state_dict(), "resnet18.safetensors")
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace {

// Maps bytes to the inputs for which the ImageNet weights were trained: mean 0, standard deviation 1 in each channel.
class ImageNetNormalization : public Layer {
 public:
  ImageNetNormalization() : Layer("ImageNetNormalization", Options{}) {}

 protected:
  Value call(const Value& x) override { return (x / 255.0 - mean_) / deviation_; }

 private:
  struct Options {
    std::string name = "normalization";
    Policy dtype = "float32";  // bfloat16 would round the pixels
  };
  Value mean_ = Tensor({3}, std::vector<float>{0.485F, 0.456F, 0.406F});
  Value deviation_ = Tensor({3}, std::vector<float>{0.229F, 0.224F, 0.225F});
};

// Argument `index` as a positive number, or `otherwise` if it is not given.
int number(int argc, char** argv, int index, const char* name, int otherwise) {
  if (argc <= index) return otherwise;
  const std::string text = argv[index];
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos || text == "0") {
    throw std::invalid_argument(std::string(name) + " must be a whole number from 1 to 999999; got \"" + text + "\"");
  }
  return std::stoi(text);
}

void run(int argc, char** argv) {
  if (argc < 3 || argc > 6) {
    throw std::invalid_argument("usage: finetune_resnet_pets DATA WEIGHTS [EPOCHS [BATCH_SIZE [IMAGE_SIZE]]]");
  }
  const std::string data = argv[1];
  const std::string weights = argv[2];
  const int epochs = number(argc, argv, 3, "EPOCHS", 5);
  const int batch_size = number(argc, argv, 4, "BATCH_SIZE", 32);
  const int image_size = number(argc, argv, 5, "IMAGE_SIZE", 224);
  seed_everything(0);

  const auto [train, test] =
      datasets::oxford_iiit_pet({.root = data, .image_size = image_size, .resize_size = image_size * 8 / 7});
  const DataLoader train_loader(train, {.batch_size = batch_size, .shuffle = true, .workers = 2});
  const DataLoader test_loader(test, {.batch_size = batch_size, .workers = 2});

  // The head in the file is for other classes. It is skipped with a warning; the new head is trained from scratch.
  ResNet resnet = resnet18({.classes = 37, .name = "resnet18"});
  resnet.build({1, image_size, image_size, 3});
  resnet.load_weights(weights, {.skip_mismatch = true});

  Sequential model({ImageNetNormalization(), resnet});
  const CosineDecay rate({.initial_learning_rate = 2e-4, .decay_steps = epochs * train_loader.size()});
  model.compile({.optimizer = AdamW({.learning_rate = rate, .weight_decay = 0.01}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {SparseCategoricalAccuracy({.name = "accuracy"})}});

  const Trainer trainer({.max_epochs = epochs, .precision = "bf16"});
  trainer.fit(model, train_loader, test_loader);
  std::printf("test accuracy %.3f\n", trainer.validate(model, test_loader).at("accuracy"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "finetune_resnet_pets: %s\n", error.what());
    return 1;
  }
  return 0;
}
