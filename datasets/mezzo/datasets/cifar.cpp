#include <mezzo/datasets/cifar.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/datasets/search.hpp>
#include <mezzo/io/gzip.hpp>

namespace mezzo::datasets {
namespace {

constexpr std::int64_t cifar_side = 32, cifar_pixels = cifar_side * cifar_side;

/// Samples of one file: `labels` bytes of labels, then the planes of red, green and blue.
struct Format {
  std::size_t labels = 1;  ///< bytes in front of the picture
  std::size_t label = 0;   ///< byte of the label
  int classes = 10;
};

Dataset read_parts(const std::string& folder, const std::vector<std::string>& files, const Format& format) {
  const std::size_t record = format.labels + 3 * static_cast<std::size_t>(cifar_pixels);
  std::vector<std::uint8_t> images;
  std::vector<std::int64_t> labels;
  for (const std::string& file : files) {
    const std::string path = detail::require_file(folder, file);
    constexpr std::uint64_t most_samples = 1'000'000;  // CIFAR-100 has 50,000 in a file
    const mezzo::detail::Bytes bytes = read_gzip_file(path, most_samples * record);
    if (bytes.empty() || bytes.size() % record != 0) {
      fail<FileError>("[datasets]", "\"{}\" must hold samples of {} bytes; got {} bytes", path, record, bytes.size());
    }
    for (std::size_t at = 0; at < bytes.size(); at += record) {
      const int label = bytes[at + format.label];
      if (label >= format.classes) {
        fail<FileError>("[datasets]", "\"{}\": label {} must lie in [0, {}); got {}", path, at / record, format.classes,
                        label);
      }
      labels.push_back(label);
      const std::uint8_t* const planes = bytes.data() + at + format.labels;
      for (std::int64_t i = 0; i < cifar_pixels; ++i) {
        for (std::int64_t c = 0; c < 3; ++c) images.push_back(planes[c * cifar_pixels + i]);
      }
    }
  }
  const auto count = static_cast<std::int64_t>(labels.size());
  return Dataset::from_tensors({{"image", Tensor({count, cifar_side, cifar_side, 3}, images), Role::input},
                                {"label", Tensor({count}, labels), Role::target}});
}

const char* const cifar_hint = "it is distributed by https://www.cs.toronto.edu/~kriz/cifar.html (binary version)";

}  // namespace

std::pair<Dataset, Dataset> cifar10(const Cifar10Options& options) {
  const std::string folder = detail::find_folder("cifar-10-batches-bin", options.root, "data_batch_1.bin", cifar_hint);
  std::vector<std::string> training;
  for (int i = 1; i <= 5; ++i) training.push_back(fmt::format("data_batch_{}.bin", i));
  return {read_parts(folder, training, {}), read_parts(folder, {"test_batch.bin"}, {})};
}

std::pair<Dataset, Dataset> cifar100(const Cifar100Options& options) {
  const bool fine = options.label_mode == "fine";
  if (!fine && options.label_mode != "coarse") {
    fail<NameError>("[cifar100]", "unknown label_mode \"{}\"; valid names: coarse, fine", options.label_mode);
  }
  const std::string folder = detail::find_folder("cifar-100-binary", options.root, "train.bin", cifar_hint);
  const Format format{2, fine ? std::size_t{1} : std::size_t{0}, fine ? 100 : 20};
  return {read_parts(folder, {"train.bin"}, format), read_parts(folder, {"test.bin"}, format)};
}

}  // namespace mezzo::datasets
