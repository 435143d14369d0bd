#include <mezzo/data/image/image_dataset.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/folder_files.hpp>
#include <mezzo/data/image/crop.hpp>
#include <mezzo/data/image/decode.hpp>
#include <mezzo/data/image/formats.hpp>
#include <mezzo/data/image/interpolate.hpp>

namespace mezzo {
namespace {

const char* const from_directory = "[image_dataset_from_directory]";

/// Options of a folder of pictures.
detail::FolderOptions image_files(const char* where, const std::string& unreadable, bool verify,
                                  const image::DecodeOptions& decode) {
  detail::FolderOptions options;
  options.where = where;
  options.endings = {".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"};
  options.unreadable = unreadable;
  image::detail::check_dtype(decode, where);
  if (unreadable.empty()) fail_unknown(where, "unreadable", unreadable, {"error", "skip"});
  if (verify) options.verify = [decode](const std::string& path) { image::read_image(path, decode); };
  return options;
}

detail::FolderOptions checked(const ImageDatasetOptions& options) {
  if (options.color_mode != "rgb" && options.color_mode != "grayscale") {
    fail_unknown(from_directory, "color_mode", options.color_mode, {"grayscale", "rgb"});
  }
  for (const std::int64_t size : options.image_size) {
    if (size < 1) {
      fail<ValueError>(from_directory, "image_size must be at least 1; got ({})", fmt::join(options.image_size, ", "));
    }
  }
  if (options.crop_to_aspect_ratio && options.pad_to_aspect_ratio) {
    fail<ValueError>(from_directory, "only one of crop_to_aspect_ratio and pad_to_aspect_ratio may be true");
  }
  image::detail::check_interpolation(options.interpolation, from_directory);
  detail::FolderOptions files = image_files(from_directory, options.unreadable, options.verify, {});
  files.labels = options.labels;
  files.label_mode = options.label_mode;
  files.class_names = options.class_names;
  files.shuffle = options.shuffle;
  files.seed = options.seed;
  files.validation_split = options.validation_split;
  files.subset = options.subset;
  files.follow_links = options.follow_links;
  return files;
}

/// Luma of ITU-R 601 as Pillow computes it.
Tensor gray_of(const Tensor& picture) {
  Tensor gray = Tensor::uninitialized({picture.shape()[0], picture.shape()[1], 1}, DType::uint8);
  const auto* rgb = picture.data<std::uint8_t>();
  auto* out = gray.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < gray.size(); ++i, rgb += 3) {
    out[i] = static_cast<std::uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16U);
  }
  return gray;
}

/// A side that has the proportion a / b to `other`.
std::int64_t proportional(std::int64_t other, std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<double>(other * a) / static_cast<double>(b));
}

Tensor padded(const Tensor& picture, std::int64_t height, std::int64_t width) {
  const Shape& in = picture.shape();
  const std::int64_t rows = std::max(in[0], proportional(in[1], height, width));
  const std::int64_t columns = std::max(in[1], proportional(in[0], width, height));
  Tensor out(Shape{rows, columns, in[2]}, DType::uint8);
  auto* to = out.mutable_data<std::uint8_t>() + ((rows - in[0]) / 2 * columns + (columns - in[1]) / 2) * in[2];
  const auto* from = picture.data<std::uint8_t>();
  for (std::int64_t y = 0; y < in[0]; ++y, to += columns * in[2], from += in[1] * in[2]) {
    std::memcpy(to, from, static_cast<std::size_t>(in[1] * in[2]));
  }
  return out;
}

Tensor cropped(const Tensor& picture, std::int64_t height, std::int64_t width) {
  const Shape& in = picture.shape();
  const std::int64_t rows = std::clamp<std::int64_t>(proportional(in[1], height, width), 1, in[0]);
  const std::int64_t columns = std::clamp<std::int64_t>(proportional(in[0], width, height), 1, in[1]);
  return image::crop(picture,
                     {.top = (in[0] - rows) / 2, .left = (in[1] - columns) / 2, .height = rows, .width = columns});
}

Tensor read_sample(const std::string& path, const ImageDatasetOptions& options) {
  Tensor picture = image::read_image(path);
  if (options.color_mode == "grayscale") picture = gray_of(picture);
  const auto [height, width] = options.image_size;
  if (options.crop_to_aspect_ratio) picture = cropped(picture, height, width);
  if (options.pad_to_aspect_ratio) picture = padded(picture, height, width);
  return image::detail::interpolate(picture, height, width, options.interpolation);
}

detail::FolderDataset make_image_dataset(detail::FolderFiles files, const ImageDatasetOptions& options) {
  const auto shared = std::make_shared<const detail::FolderFiles>(std::move(files));
  FunctionDatasetOptions made;
  made.size = static_cast<std::int64_t>(shared->paths.size());
  const std::int64_t channels = options.color_mode == "rgb" ? 3 : 1;
  made.fields = {{"image", {options.image_size[0], options.image_size[1], channels}, DType::float32, Role::input}};
  if (shared->labelled()) made.fields.push_back(shared->label_field());
  made.function = [shared, options](std::int64_t index) {
    const auto file = static_cast<std::size_t>(index);
    std::vector<Tensor> sample{read_sample(shared->paths[file], options)};
    if (shared->labelled()) sample.push_back(shared->label(file));
    return sample;
  };
  return {Dataset::from_function(std::move(made)), shared->class_names, shared->paths, shared->skipped};
}

}  // namespace

detail::FolderDataset image_dataset_from_directory(const std::string& directory, const ImageDatasetOptions& options) {
  return make_image_dataset(detail::folder_files(directory, checked(options)), options);
}

std::pair<detail::FolderDataset, detail::FolderDataset> image_datasets_from_directory(
    const std::string& directory, const ImageDatasetOptions& options) {
  auto [training, validation] = detail::both_folder_files(directory, checked(options));
  return {make_image_dataset(std::move(training), options), make_image_dataset(std::move(validation), options)};
}

detail::FolderDataset image_folder(const std::string& root, const ImageFolderOptions& options) {
  detail::FolderOptions listed = image_files("[image_folder]", options.unreadable, options.verify, options.decode);
  listed.label_mode = "int";
  listed.shuffle = false;
  const auto files = std::make_shared<const detail::FolderFiles>(detail::folder_files(root, listed));
  const auto read = [files, options](std::int64_t index, std::int64_t epoch) {
    const auto file = static_cast<std::size_t>(index);
    const Tensor picture = image::read_image(files->paths[file], options.decode);
    return std::vector<Tensor>{options.transform ? options.transform(picture, index, epoch) : picture,
                               Tensor({}, std::vector<std::int64_t>{files->labels[file]})};
  };
  const Tensor first = read(0, 0).front();
  FunctionDatasetOptions made;
  made.size = static_cast<std::int64_t>(files->paths.size());
  made.fields = {{"image", first.shape(), first.dtype(), Role::input}, {"label", {}, DType::int64, Role::target}};
  made.epoch_function = read;
  return {Dataset::from_function(std::move(made)), files->class_names, files->paths, files->skipped};
}

}  // namespace mezzo
