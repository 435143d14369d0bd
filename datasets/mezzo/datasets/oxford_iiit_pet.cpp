#include <mezzo/datasets/oxford_iiit_pet.hpp>

#include <filesystem>
#include <memory>
#include <sstream>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/data/image/crop.hpp>
#include <mezzo/data/image/decode.hpp>
#include <mezzo/data/image/random.hpp>
#include <mezzo/data/image/resize.hpp>
#include <mezzo/datasets/search.hpp>
#include <mezzo/io/gzip.hpp>

namespace mezzo::datasets {
namespace {

struct Sample {
  std::string path;
  std::int64_t label = 0;
};

std::vector<Sample> read_annotations(const std::string& folder, const std::string& part) {
  const std::string path = detail::require_file(folder, "annotations/" + part);
  constexpr std::uint64_t largest = std::uint64_t{1} << 20;  // in bytes; the data set's own files have about 100,000
  const mezzo::detail::Bytes bytes = read_gzip_file(path, largest);
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  const auto classes = static_cast<std::int64_t>(oxford_iiit_pet_classes().size());
  std::vector<Sample> samples;
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const auto check = [&](bool good, const std::string& expected) {
      if (!good) fail<FileError>("[datasets]", "\"{}\": line {} must {}; got \"{}\"", path, number, expected, line);
    };
    std::istringstream words(line);
    std::string name;
    std::string rest;
    std::int64_t label = 0;
    std::int64_t species = 0;
    std::int64_t breed = 0;
    const bool whole = !(words >> name >> label >> species >> breed).fail() && (words >> rest).fail();
    check(whole, "be `name class species breed`");
    check(label >= 1 && label <= classes, fmt::format("have a class in [1, {}]", classes));
    check(name.find('/') == std::string::npos, "have a name without a folder");
    samples.push_back({(std::filesystem::path(folder) / "images" / (name + ".jpg")).string(), label - 1});
  }
  if (samples.empty()) fail<FileError>("[datasets]", "\"{}\" must have samples; got none", path);
  return samples;
}

Tensor middle(const Tensor& picture, const OxfordIiitPetOptions& options) {
  return image::center_crop(image::resize_shorter_side(picture, options.resize_size),
                            {.height = options.image_size, .width = options.image_size});
}

Tensor augmented(const Tensor& picture, const OxfordIiitPetOptions& options, std::int64_t index, std::int64_t epoch) {
  const std::uint64_t key = options.seed < 0 ? seed() : static_cast<std::uint64_t>(options.seed);
  const image::SampleKey sample{.seed = key, .epoch = epoch, .index = index};
  const Tensor part =
      image::random_resized_crop(picture, {.height = options.image_size, .width = options.image_size}, sample);
  return image::random_horizontal_flip(part, {}, sample);
}

Dataset make_dataset(std::vector<Sample> annotations, const OxfordIiitPetOptions& options, bool augment) {
  const auto samples = std::make_shared<const std::vector<Sample>>(std::move(annotations));
  const std::int64_t side = options.image_size;
  FunctionDatasetOptions made{
      .size = static_cast<std::int64_t>(samples->size()),
      .fields = {{"image", {side, side, 3}, DType::uint8, Role::input}, {"label", {}, DType::int64, Role::target}}};
  made.epoch_function = [samples, options, augment](std::int64_t index, std::int64_t epoch) {
    const Sample& sample = (*samples)[static_cast<std::size_t>(index)];
    const Tensor picture = image::read_image(sample.path);
    return std::vector<Tensor>{augment ? augmented(picture, options, index, epoch) : middle(picture, options),
                               Tensor({}, std::vector<std::int64_t>{sample.label})};
  };
  return Dataset::from_function(std::move(made));
}

}  // namespace

std::pair<Dataset, Dataset> oxford_iiit_pet(const OxfordIiitPetOptions& options) {
  if (options.image_size < 1 || options.resize_size < options.image_size) {
    fail<ValueError>("[oxford_iiit_pet]",
                     "image_size must be at least 1 and resize_size at least image_size; got {} and {}",
                     options.image_size, options.resize_size);
  }
  const std::string folder = detail::find_folder("oxford-iiit-pet", options.root, "annotations/trainval.txt",
                                                 "it is distributed by https://www.robots.ox.ac.uk/~vgg/data/pets");
  return {make_dataset(read_annotations(folder, "trainval.txt"), options, options.augment),
          make_dataset(read_annotations(folder, "test.txt"), options, false)};
}

const std::vector<std::string>& oxford_iiit_pet_classes() {
  static const std::vector<std::string> classes{"Abyssinian",
                                                "american bulldog",
                                                "american pit bull terrier",
                                                "basset hound",
                                                "beagle",
                                                "Bengal",
                                                "Birman",
                                                "Bombay",
                                                "boxer",
                                                "British Shorthair",
                                                "chihuahua",
                                                "Egyptian Mau",
                                                "english cocker spaniel",
                                                "english setter",
                                                "german shorthaired",
                                                "great pyrenees",
                                                "havanese",
                                                "japanese chin",
                                                "keeshond",
                                                "leonberger",
                                                "Maine Coon",
                                                "miniature pinscher",
                                                "newfoundland",
                                                "Persian",
                                                "pomeranian",
                                                "pug",
                                                "Ragdoll",
                                                "Russian Blue",
                                                "saint bernard",
                                                "samoyed",
                                                "scottish terrier",
                                                "shiba inu",
                                                "Siamese",
                                                "Sphynx",
                                                "staffordshire bull terrier",
                                                "wheaten terrier",
                                                "yorkshire terrier"};
  return classes;
}

}  // namespace mezzo::datasets
