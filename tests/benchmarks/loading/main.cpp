// Samples per second of a loader that changes pictures, or that vectorizes texts.
//
// mezzo_loading pictures|jitter|texts [--workers N] [--seconds S]
//
// Prints a line of JSON, as loading_peer.py does for PyTorch. Samples lie in memory: 256 pictures of 224 x 224 x 3
// bytes, or 2048 texts of 200 words of 20000. Pictures are resized to 256 x 256, cut at random to 224 x 224, mirrored
// at random and normalized; "jitter" changes their colors before that. Batches have 32 samples.
#include <chrono>
#include <cstring>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include <mezzo/core/random.hpp>
#include <mezzo/data/image/resize.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/data/text/text_dataset.hpp>
#include <mezzo/data/text/text_vectorization.hpp>
#include <mezzo/layers/images/random_colors.hpp>
#include <mezzo/layers/images/random_geometry.hpp>

namespace {

using namespace mezzo;

/// (x / 255 - mean) / deviation of each channel, with the numbers of ImageNet.
Tensor normalized(const Tensor& image) {
  const float mean[3] = {0.485F, 0.456F, 0.406F}, deviation[3] = {0.229F, 0.224F, 0.225F};
  Tensor out = Tensor::uninitialized(image.shape(), DType::float32);
  const float* from = image.data<float>();
  auto* to = out.mutable_data<float>();
  for (std::int64_t i = 0; i < image.size(); i += 3) {
    for (std::int64_t c = 0; c < 3; ++c) to[i + c] = (from[i + c] / 255 - mean[c]) / deviation[c];
  }
  return out;
}

Dataset pictures(bool jitter) {
  Tensor images = Tensor::uninitialized({256, 224, 224, 3}, DType::uint8);
  auto* const bytes = images.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < images.size(); i += 16) {
    const auto words = philox(1, static_cast<std::uint64_t>(i));
    std::memcpy(bytes + i, words.data(), 16);
  }
  const Dataset resized = Dataset::from_tensors({{"image", images}}).map("image", [](const Tensor& image) {
    image::ResizeOptions size;
    size.height = size.width = 256;
    return image::resize(image, size);
  });
  Dataset moved = resized.map("image", RandomCrop(224, 224).on_samples());
  moved = moved.map("image", RandomFlip("horizontal").on_samples());
  if (jitter) {
    RandomColorJitterOptions options;
    options.brightness_factor = options.contrast_factor = options.saturation_factor = 0.4;
    options.hue_factor = 0.1;
    moved = moved.map("image", RandomColorJitter(options).on_samples());
  }
  return moved.map("image", normalized);
}

Dataset texts() {
  std::vector<std::string> all, vocabulary;
  for (int i = 0; i < 20000; ++i) vocabulary.push_back(fmt::format("word{}", i));
  for (std::uint64_t i = 0; i < 2048; ++i) {
    std::string text;
    for (std::uint64_t k = 0; k < 200; ++k) text += fmt::format("Word{}, ", philox(2, i, k)[0] % 25000);
    all.push_back(text);
  }
  TextVectorizationOptions options;
  options.output_sequence_length = 200;
  options.vocabulary = vocabulary;
  return TextDataset(all).map(TextVectorization(options));
}

}  // namespace

int main(int count, char** arguments) {
  const std::string work = count > 1 ? arguments[1] : "";
  DataLoaderOptions loading;
  double seconds = 3;
  for (int i = 2; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--workers") loading.workers = std::stoi(arguments[i + 1]);
    if (std::string(arguments[i]) == "--seconds") seconds = std::stod(arguments[i + 1]);
  }
  if (work != "pictures" && work != "jitter" && work != "texts") {
    std::cerr << "usage: mezzo_loading pictures|jitter|texts [--workers N] [--seconds S]\n";
    return 2;
  }
  loading.shuffle = true;
  const DataLoader loader(work == "texts" ? texts() : pictures(work == "jitter"), loading);
  using Clock = std::chrono::steady_clock;
  std::int64_t samples = 0;
  Clock::time_point begin;
  double passed = 0;
  for (std::int64_t epoch = 0; passed < seconds; ++epoch) {
    detail::BatchStream stream = loader.epoch(epoch);
    for (auto batch = stream.next(); batch && passed < seconds; batch = stream.next()) {
      // The first batch starts the clock.
      if (samples == 0 && epoch == 0 && passed == 0)
        begin = Clock::now();
      else
        samples += batch->size;
      passed = std::chrono::duration<double>(Clock::now() - begin).count() + 1e-9;
    }
  }
  std::cout << fmt::format("{{\"work\": \"{}\", \"workers\": {}, \"per_s\": {:.0f}}}\n", work, loading.workers,
                           static_cast<double>(samples) / passed);
  return 0;
}
