#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <mezzo/core/random.hpp>
#include <mezzo/data/image/crop.hpp>
#include <mezzo/data/image/decode.hpp>
#include <mezzo/data/image/resize.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/datasets/oxford_iiit_pet.hpp>

#include "support/environment.hpp"
#include "support/folder.hpp"
#include "support/jpeg.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::Folder;

namespace {

// Returns a gradient without two equal parts.
Tensor picture(std::int64_t height, std::int64_t width, int seed) {
  Tensor out({height, width, 3}, DType::uint8);
  auto* at = out.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < height * width; ++i) {
    *at++ = static_cast<std::uint8_t>(255 * (i / width) / height);
    *at++ = static_cast<std::uint8_t>(255 * (i % width) / width);
    *at++ = static_cast<std::uint8_t>(40 * seed);
  }
  return out;
}

std::string write(const Folder& folder, const std::string& name, const std::string& text) {
  return folder.write(name, {text.begin(), text.end()});
}

// Writes four pictures for training and two for testing, of several sizes.
void write_files(const Folder& folder) {
  const auto add = [&](const std::string& name, std::int64_t height, std::int64_t width, int seed) {
    folder.write("images/" + name + ".jpg", mezzo_tests::jpeg(picture(height, width, seed)));
  };
  add("Abyssinian_1", 60, 40, 1);
  add("beagle_2", 40, 60, 2);
  add("pug_3", 50, 50, 3);
  add("yorkshire_terrier_4", 30, 90, 4);
  add("Sphynx_5", 33, 47, 5);
  add("pug_6", 16, 21, 6);
  write(folder, "annotations/trainval.txt",
        "#Image CLASS-ID SPECIES BREED ID\nAbyssinian_1 1 1 1\nbeagle_2 5 2 4\npug_3 26 2 19\n"
        "yorkshire_terrier_4 37 2 25\n");
  write(folder, "annotations/test.txt", "Sphynx_5 34 1 12\r\npug_6 26 2 19\n");
}

datasets::OxfordIiitPetOptions small(const Folder& folder) {
  return {.root = folder.path(), .image_size = 16, .resize_size = 20, .seed = 5};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oxford_iiit_pet)

BOOST_AUTO_TEST_CASE(fields_sizes_and_labels) {
  const Folder folder;
  write_files(folder);
  const auto [train, test] = datasets::oxford_iiit_pet(small(folder));
  BOOST_TEST(train.size() == 4);
  BOOST_TEST(test.size() == 2);
  BOOST_REQUIRE(train.fields().size() == 2U);
  BOOST_TEST((train.fields()[0].role == Role::input && train.fields()[1].role == Role::target));
  const HostBatch batch = train.gather({0, 1, 2, 3});
  BOOST_TEST(batch["image"].describe() == "uint8 (4, 16, 16, 3)");
  BOOST_TEST(batch["label"].describe() == "int64 (4,)");
  BOOST_TEST(batch["label"].to_doubles() == (std::vector<double>{0, 4, 25, 36}), boost::test_tools::per_element());
  const std::vector<std::string>& classes = datasets::oxford_iiit_pet_classes();
  BOOST_TEST(classes.size() == 37U);
  BOOST_TEST((classes[0] == "Abyssinian" && classes[4] == "beagle" && classes[25] == "pug" && classes[33] == "Sphynx" &&
              classes[36] == "yorkshire terrier"));
}

BOOST_AUTO_TEST_CASE(test_pictures_are_the_resized_middle) {
  const Folder folder;
  write_files(folder);
  const Dataset test = datasets::oxford_iiit_pet(small(folder)).second;
  const Tensor whole = image::read_image(folder.path("images/Sphynx_5.jpg"));
  const Tensor expected = image::center_crop(image::resize_shorter_side(whole, 20), {.height = 16, .width = 16});
  BOOST_TEST(test.gather({0})["image"].equal(expected.reshape({1, 16, 16, 3})));
}

BOOST_AUTO_TEST_CASE(training_pictures_depend_on_seed_epoch_and_index_alone) {
  const Folder folder;
  write_files(folder);
  const auto epoch_of = [&](std::int64_t seed, std::int64_t epoch, int workers) {
    auto options = small(folder);
    options.seed = seed;
    const DataLoader loader(datasets::oxford_iiit_pet(options).first, {.batch_size = 4, .workers = workers});
    return (*loader.epoch(epoch).next())["image"];
  };
  const Tensor first = epoch_of(5, 0, 0);
  BOOST_TEST(epoch_of(5, 0, 2).equal(first));
  BOOST_TEST(!epoch_of(5, 1, 0).equal(first));
  BOOST_TEST(!epoch_of(6, 0, 0).equal(first));
  const std::uint64_t before = seed();
  seed_everything(6);
  BOOST_TEST(epoch_of(-1, 0, 0).equal(epoch_of(6, 0, 0)));
  seed_everything(before);
  // A sample does not depend on its place in the order.
  const Dataset train = datasets::oxford_iiit_pet(small(folder)).first;
  BOOST_TEST(train.subset({2}).gather({0})["image"].equal(first.slice(2, 3)));
}

BOOST_AUTO_TEST_CASE(without_augmentation_training_pictures_are_the_middle) {
  const Folder folder;
  write_files(folder);
  auto options = small(folder);
  options.augment = false;
  const DataLoader loader(datasets::oxford_iiit_pet(options).first.take(1));
  const Tensor expected =
      image::center_crop(image::resize_shorter_side(image::read_image(folder.path("images/Abyssinian_1.jpg")), 20),
                         {.height = 16, .width = 16});
  for (const std::int64_t epoch : {0, 1}) {
    BOOST_TEST((*loader.epoch(epoch).next())["image"].equal(expected.reshape({1, 16, 16, 3})));
  }
}

BOOST_AUTO_TEST_CASE(a_corrupt_or_missing_picture_is_named_with_its_index) {
  const Folder folder;
  write_files(folder);
  std::vector<std::uint8_t> cut = mezzo_tests::jpeg(picture(50, 50, 3));
  cut.resize(cut.size() / 2);
  const std::string corrupt = folder.write("images/pug_3.jpg", cut);
  const std::string missing = folder.path("images/yorkshire_terrier_4.jpg");
  std::filesystem::remove(missing);
  const Dataset train = datasets::oxford_iiit_pet(small(folder)).first;
  for (const int workers : {0, 1, 3}) {
    const DataLoader loader(train, {.batch_size = 1, .workers = workers});
    detail::BatchStream stream = loader.epoch(0);
    BOOST_TEST(stream.next().has_value());
    BOOST_TEST(stream.next().has_value());
    check_throws<FileError>(
        "[DataLoader] sample 2: [decode_image] \"" + corrupt + "\": not a whole JPEG file: Premature end of JPEG file",
        [&] { stream.next(); });
    detail::BatchStream rest = loader.epoch(0, 3);
    check_throws<FileError>("[DataLoader] sample 3: [read_file] \"" + missing + "\": no such file or directory",
                            [&] { rest.next(); });
  }
}

BOOST_AUTO_TEST_CASE(bad_annotations_are_refused) {
  const auto refuse = [](const std::string& text, const std::string& why) {
    const Folder folder;
    write_files(folder);
    const std::string path = write(folder, "annotations/test.txt", text);
    check_throws<FileError>("[datasets] \"" + path + "\"" + why,
                            [&] { datasets::oxford_iiit_pet({.root = folder.path()}); });
  };
  refuse("", " must have samples; got none");
  refuse("pug_1 26 2 19\npug_2 26 2\n", ": line 2 must be `name class species breed`; got \"pug_2 26 2\"");
  refuse("pug_1 26 2 19 7\n", ": line 1 must be `name class species breed`; got \"pug_1 26 2 19 7\"");
  refuse("pug_1 x 2 19\n", ": line 1 must be `name class species breed`; got \"pug_1 x 2 19\"");
  refuse("pug_1 38 2 19\n", ": line 1 must have a class in [1, 37]; got \"pug_1 38 2 19\"");
  refuse("pug_1 0 2 19\n", ": line 1 must have a class in [1, 37]; got \"pug_1 0 2 19\"");
  refuse("pug_1 26 2 \x1b[2J\n", ": line 1 must be `name class species breed`; got \"pug_1 26 2 \\x1b[2J\"");
  refuse("../pug_1 26 2 19\n", ": line 1 must have a name without a folder; got \"../pug_1 26 2 19\"");
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  check_throws<ValueError>(
      "[oxford_iiit_pet] image_size must be at least 1 and resize_size at least image_size; got 224 and 200",
      [] { datasets::oxford_iiit_pet({.resize_size = 200}); });
  check_throws<ValueError>(
      "[oxford_iiit_pet] image_size must be at least 1 and resize_size at least image_size; got 0 and 256",
      [] { datasets::oxford_iiit_pet({.image_size = 0}); });
}

BOOST_AUTO_TEST_CASE(the_folder_is_searched_for) {
  const Folder above;
  const mezzo_tests::Environment data("MEZZO_DATA", above.path());
  const std::string root = above.path();
  check_throws<FileError>(
      "[oxford-iiit-pet] \"annotations/trainval.txt\", with or without .gz, must be in one of: " + root + ", " + root +
          "/oxford-iiit-pet; it is distributed by https://www.robots.ox.ac.uk/~vgg/data/pets",
      [&] { datasets::oxford_iiit_pet({.root = root}); });
  write(above, "oxford-iiit-pet/annotations/trainval.txt", "pug_1 26 2 19\n");
  write(above, "oxford-iiit-pet/annotations/test.txt", "pug_2 26 2 19\n");
  BOOST_TEST(datasets::oxford_iiit_pet().first.size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
