#include <mezzo/data/image/image_dataset.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <mezzo/data/image/encode.hpp>
#include <mezzo/data/image/resize.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/recorded_pictures.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor picture(std::int64_t height, std::int64_t width, std::int64_t seed) {
  Tensor out({height, width, 3}, DType::uint8);
  auto* pixels = out.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) pixels[i] = static_cast<std::uint8_t>((i * 37 + seed * 11) % 256);
  return out;
}

/// Two classes with two pictures each, of different sizes.
void write_pictures(const Folder& folder) {
  folder.write("cat/a.png", image::encode_png(picture(4, 6, 1)));
  folder.write("cat/b.png", image::encode_png(picture(8, 8, 2)));
  folder.write("dog/c.PNG", image::encode_png(picture(5, 3, 3)));
  folder.write("dog/d.png", image::encode_png(picture(4, 6, 4)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_dataset)

BOOST_AUTO_TEST_CASE(pictures_of_a_folder) {
  const Folder folder;
  write_pictures(folder);
  const detail::FolderDataset data =
      image_dataset_from_directory(folder.path(), {.image_size = {4, 6}, .shuffle = false});
  BOOST_TEST(data.class_names() == (std::vector<std::string>{"cat", "dog"}));
  const HostBatch batch = data.gather({0, 1, 2, 3});
  BOOST_TEST(batch["image"].describe() == "float32 (4, 4, 6, 3)");
  BOOST_TEST(batch["label"].to_doubles() == (std::vector<double>{0, 0, 1, 1}));
  BOOST_TEST(batch["image"].slice(0, 1).reshape({4, 6, 3}).equal(picture(4, 6, 1).cast(DType::float32)));
  const HostBatch one = image_dataset_from_directory(folder.path(), {.label_mode = "categorical",
                                                                     .class_names = {{"dog", "cat"}},
                                                                     .color_mode = "grayscale",
                                                                     .image_size = {2, 2},
                                                                     .shuffle = false})
                            .gather({0, 3});
  BOOST_TEST(one["image"].describe() == "float32 (2, 2, 2, 1)");
  BOOST_TEST(one["label"].to_doubles() == (std::vector<double>{1, 0, 0, 1}));
  const auto paths = [&](std::uint64_t seed) {
    return image_dataset_from_directory(folder.path(), {.seed = seed}).file_paths();
  };
  BOOST_TEST(paths(5) == paths(5));
}

BOOST_AUTO_TEST_CASE(sizes_and_proportions) {
  const Folder folder;
  folder.write("x/a.png", image::encode_png(picture(4, 8, 1)));
  const auto read = [&](ImageDatasetOptions options) {
    options.labels = std::nullopt;
    return image_dataset_from_directory(folder.path(), options).gather({0})["image"].reshape({4, 4, 3});
  };
  const Tensor cropped = read({.image_size = {4, 4}, .crop_to_aspect_ratio = true});
  const std::vector<double> all = picture(4, 8, 1).to_doubles(), part = cropped.to_doubles();
  for (std::size_t i = 0; i < 12; ++i) BOOST_TEST(part[i] == all[6 + i]);
  const Tensor padded = read({.image_size = {4, 4}, .interpolation = "nearest", .pad_to_aspect_ratio = true});
  for (std::size_t i = 0; i < 12; ++i) BOOST_TEST(padded.to_doubles()[i] == 0);
  // A half: the mean of two columns.
  const std::vector<double> half = read({.image_size = {4, 4}}).to_doubles();
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(half[i] == (all[i] + all[i + 3]) / 2);
  const Tensor cubic = read({.image_size = {4, 4}, .interpolation = "bicubic"});
  const double weights[] = {-0.0625 / 1.0625, 0.5625 / 1.0625, 0.5625 / 1.0625};
  BOOST_TEST(std::abs(cubic.to_doubles()[0] - (all[0] * weights[1] + all[3] * weights[2] + all[6] * weights[0])) <
             1e-3);
}

BOOST_AUTO_TEST_CASE(links_in_a_circle) {
  const Folder folder;
  write_pictures(folder);
  std::filesystem::create_directory_symlink(folder.path(), folder.path("cat/up"));
  std::filesystem::create_directory_symlink(folder.path("dog"), folder.path("dog/self"));
  const auto files = [&](bool follow_links) {
    return image_dataset_from_directory(folder.path(), {.follow_links = follow_links}).file_paths().size();
  };
  BOOST_TEST(files(false) == 4U);
  BOOST_TEST(files(true) == 6U);  // by cat/up also those of dog
}

BOOST_AUTO_TEST_CASE(image_folders) {
  const Folder folder;
  write_pictures(folder);
  const detail::FolderDataset data =
      image_folder(folder.path(), {.transform = [](const Tensor& image, std::int64_t, std::int64_t) {
                     return image::resize(image, {.height = 3, .width = 3});
                   }});
  const HostBatch batch = data.gather({3, 0});
  BOOST_TEST(batch["image"].describe() == "uint8 (2, 3, 3, 3)");
  BOOST_TEST(batch["label"].to_doubles() == (std::vector<double>{1, 0}));
  BOOST_TEST(refused<ShapeError>([&] { image_folder(folder.path()).gather({1}); }) ==
             "[Dataset] sample 1: field \"image\" must have shape (4, 6, 3); got uint8 (8, 8, 3)");
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read) {
  const Folder folder;
  write_pictures(folder);
  folder.write("cat/b.gif", {'G', 'I', 'F'});
  folder.write("cat/notes.txt", {'x'});
  folder.write("cat/.hidden", {'x'});
  folder.write("dog/broken.png", {0x89, 'P', 'N', 'G', 1, 2, 3, 4, 5});
  const auto files = [&](const ImageDatasetOptions& options) {
    CapturedOutput output;
    const detail::FolderDataset data = image_dataset_from_directory(folder.path(), options);
    return std::make_pair(data, output.text());
  };
  const std::string where = "mezzo: warning: [image_dataset_from_directory] ";
  const std::string first =
      " files can't be read and are left out; the first: files must be .bmp, .jpeg, .jpg, "
      ".png, .tif, .tiff, .webp; got \"" +
      folder.path("cat/b.gif") + "\"\n";
  const auto [data, warning] = files({.image_size = {2, 2}, .shuffle = false});
  BOOST_TEST(warning == where + "2" + first);
  BOOST_TEST(data.skipped_files() ==
             (std::vector<std::string>{folder.path("cat/b.gif"), folder.path("cat/notes.txt")}));
  BOOST_TEST(data.size() == 5);
  BOOST_CHECK_THROW(data.gather({2}), FileError);
  const auto [verified, second] = files({.image_size = {2, 2}, .shuffle = false, .verify = true});
  BOOST_TEST(second == where + "3" + first);
  BOOST_TEST(verified.skipped_files().back() == folder.path("dog/broken.png"));
  BOOST_TEST(verified.gather({0, 1, 2, 3})["label"].to_doubles() == (std::vector<double>{0, 0, 1, 1}));
  std::filesystem::remove(folder.path("cat/b.gif"));
  std::filesystem::remove(folder.path("cat/notes.txt"));
  const std::string reason =
      "[decode_image] \"" + folder.path("dog/broken.png") +
      "\": must start as a JPEG, PNG, BMP, TIFF or WebP file does; got 9 bytes of another format";
  BOOST_TEST(files({.verify = true}).second ==
             where + "1 files can't be read and are left out; the first: " + reason + "\n");
  BOOST_TEST(refused<FileError>([&] { image_folder(folder.path(), {.unreadable = "error", .verify = true}); }) ==
             reason);
  CapturedOutput output;
  BOOST_TEST(image_folder(folder.path(), {.verify = true}).file_paths().size() == 4U);
}

BOOST_AUTO_TEST_CASE(pictures_of_16_bits) {
  const Folder folder;
  folder.write("x/a.png", picture_file("png 16 bit rgb"));
  const Tensor deep = image_folder(folder.path(), {.decode = {.dtype = DType::int32}}).gather({0})["image"];
  BOOST_TEST(deep.describe() == "int32 (1, 13, 11, 3)");
  BOOST_TEST(deep.to_doubles() ==
             recorded("deep_pictures").at("png 16 bit rgb").at("uint16").get<std::vector<double>>());
  BOOST_TEST(refused<DTypeError>([&] { image_folder(folder.path(), {.decode = {.dtype = DType::int16}}); }) ==
             "[image_folder] dtype must be uint8 or int32 (0 to 65535); got int16");
}

BOOST_AUTO_TEST_CASE(errors) {
  const Folder folder;
  const auto text = [&](const ImageDatasetOptions& options) {
    return refused<Error>([&] { image_dataset_from_directory(folder.path(), options); });
  };
  const std::string where = "[image_dataset_from_directory] ";
  BOOST_TEST(text({}) ==
             where + "\"" + folder.path() +
                 "\" must have files .bmp, .jpeg, .jpg, .png, .tif, .tiff, .webp in sub-folders; there is none");
  BOOST_TEST(text({.color_mode = "rgba"}) ==
             where + "unknown color_mode \"rgba\"; valid names: grayscale, rgb; nearest: \"rgb\"");
  BOOST_TEST(text({.image_size = {0, 3}}) == where + "image_size must be at least 1; got (0, 3)");
  BOOST_TEST(text({.interpolation = "area"}) ==
             where + "unknown interpolation \"area\"; valid names: bicubic, bilinear, lanczos3, lanczos5, nearest");
  BOOST_TEST(text({.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}) ==
             where + "only one of crop_to_aspect_ratio and pad_to_aspect_ratio may be true");
  folder.write("x/a.gif", {1, 2});
  BOOST_TEST(text({.unreadable = "error"}) == where +
                                                  "files must be .bmp, .jpeg, .jpg, .png, .tif, .tiff, .webp; got \"" +
                                                  folder.path("x/a.gif") + "\"");
  for (const char* name : {"", "ignore"}) {
    BOOST_TEST(text({.unreadable = name}) == where + "unknown unreadable \"" + name + "\"; valid names: error, skip");
  }
  BOOST_TEST(refused<FileError>([] { image_dataset_from_directory("/nowhere"); }) ==
             where + "\"/nowhere\": no such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()
