#include <mezzo/cli/data_section.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/data/image/image_dataset.hpp>
#include <mezzo/data/tables/csv_dataset.hpp>
#include <mezzo/data/tables/read_csv.hpp>
#include <mezzo/datasets/cifar.hpp>
#include <mezzo/datasets/fashion_mnist.hpp>
#include <mezzo/datasets/mnist.hpp>
#include <mezzo/io/npz.hpp>

namespace mezzo::cli {
namespace {

const std::vector<std::string> names{"csv", "images", "npz", "mnist", "fashion_mnist", "cifar10", "cifar100"};

Dataset npz_dataset(const std::string& path, const std::string& x, const std::string& y) {
  std::vector<detail::NamedTensor> fields{{"x", load_npz(path, x)}};
  if (!y.empty()) fields.push_back({"y", load_npz(path, y), Role::target});
  return Dataset::from_tensors(std::move(fields));
}

/// Names of the columns of a file.
std::vector<std::string> columns_of(const std::string& path, ReadCsvOptions options) {
  options.nrows = 0;
  return read_csv(path, options).columns();
}

/// True if a folder has folders of classes, which are not hidden; false for a path that is no folder.
bool has_folders(const std::string& path) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error); !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    const bool hidden = it->path().filename().string().front() == '.';
    if (!hidden && it->is_directory(error)) return true;
  }
  return false;
}

}  // namespace

DataConfig::DataConfig(Json& json) {
  Section section(json, "data");
  section("name", name_);
  if (std::find(names.begin(), names.end(), name_) == names.end()) {
    fail_unknown_name("data.name", "data", name_, names);
  }
  const bool files = name_ == "csv" || name_ == "images" || name_ == "npz";
  if (files) {
    section("train", train_);
    section("val", val_);
    section("test", test_);
    // A run folder can be used from any other folder.
    for (std::string* path : {&train_, &val_, &test_}) {
      if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal().string();
    }
  } else {
    section("root", root_);
  }
  if (name_ == "csv") read_table(section);
  if (name_ == "npz") {
    section("x", x_);
    section("y", y_);
  }
  if (name_ == "images") read_images(section);
  section("validation_split", validation_split_);
  if (!(validation_split_ >= 0 && validation_split_ < 1)) fail_usage("data.validation_split must be in [0, 1)");
  if (validation_split_ > 0 && !val_.empty()) fail_usage("data.validation_split excludes data.val; got both");
  section("batch_size", batch_size_);
  section("shuffle", shuffle_);
  section("workers", workers_);
  if (batch_size_ < 1) fail_usage("data.batch_size must be at least 1; got {}", batch_size_);
  if (workers_ < 0) fail_usage("data.workers must be at least 0; got {}", workers_);
  section.finish();
  if (files) {
    json["train"] = train_;
    json["val"] = val_;
    json["test"] = test_;
  }
}

void DataConfig::read_table(Section& section) {
  section("targets", targets_);
  section("features", features_);
  section("weights", weights_);
  section("target_dtype", target_dtype_);
  section("allow_missing", allow_missing_);
  section("sep", csv_.sep);
  section("decimal", csv_.decimal);
  section("thousands", csv_.thousands);
  section("na_values", csv_.na_values);
}

void DataConfig::read_images(Section& section) {
  section("image_size", image_size_);
  section("color_mode", color_mode_);
  section("unreadable", unreadable_);
  section("verify", verify_);
  if (color_mode_ != "rgb" && color_mode_ != "grayscale") {
    fail_unknown_name("data.color_mode", "color mode", color_mode_, {"grayscale", "rgb"});
  }
  if (unreadable_ != "skip" && unreadable_ != "error") {
    fail_unknown_name("data.unreadable", "value", unreadable_, {"error", "skip"});
  }
  if (image_size_.size() != 2 || image_size_[0] < 1 || image_size_[1] < 1) {
    fail_usage("data.image_size must be [height, width], each at least 1");
  }
}

const std::string& DataConfig::path_of(const std::string& part) const {
  return part == "train" ? train_ : part == "val" ? val_ : test_;
}

Dataset DataConfig::named(const std::string& part) const {
  std::pair<Dataset, Dataset> both;
  if (name_ == "mnist") both = datasets::mnist({.root = root_});
  if (name_ == "fashion_mnist") both = datasets::fashion_mnist({.root = root_});
  if (name_ == "cifar10") both = datasets::cifar10({.root = root_});
  if (name_ == "cifar100") both = datasets::cifar100({.root = root_});
  return part == "train" ? both.first : both.second;
}

detail::FolderDataset DataConfig::images_in(const std::string& folder, bool labels) const {
  ImageDatasetOptions options{.color_mode = color_mode_,
                              .image_size = {image_size_[0], image_size_[1]},
                              .shuffle = false,
                              .unreadable = unreadable_,
                              .verify = verify_};
  if (!labels) options.labels = std::nullopt;
  return image_dataset_from_directory(folder, options);
}

/// Pictures of a part. Labels count the folders, so a part must have the folders of the training.
Dataset DataConfig::images(const std::string& part) const {
  const bool labels = needs_labels_ || part == "train" || has_folders(path_of(part));
  const detail::FolderDataset data = images_in(path_of(part), labels);
  files_[part] = data.file_paths();
  if (!labels) return data;
  if (part == "train") {
    classes_ = data.class_names();
    return data;
  }
  std::error_code ignored;
  if (!classes_ && std::filesystem::is_directory(train_, ignored)) classes_ = images_in(train_).class_names();
  if (classes_ && data.class_names() != *classes_) {
    fail_usage("data.{} must have the classes of data.train, also as empty folders: {}; got {}", part,
               fmt::join(*classes_, ", "), fmt::join(data.class_names(), ", "));
  }
  return data;
}

const std::vector<std::string>& DataConfig::class_names() const {
  static const std::vector<std::string> none;
  return classes_ ? *classes_ : none;
}

std::vector<std::string> DataConfig::feature_names() const {
  if (name_ != "csv" || !features_.empty()) return features_;
  if (feature_names_) return *feature_names_;
  std::error_code ignored;
  std::vector<std::string> out;
  if (std::filesystem::exists(train_, ignored)) out = columns_of(train_, csv_);
  const auto others = [&](const std::string& name) {
    return name == weights_ || std::find(targets_.begin(), targets_.end(), name) != targets_.end();
  };
  out.erase(std::remove_if(out.begin(), out.end(), others), out.end());
  feature_names_ = out;
  return out;
}

/// Table of a part. The columns of x are those of the training, by name.
Dataset DataConfig::table(const std::string& part) const {
  const std::string& path = path_of(part);
  CsvDatasetOptions options{.targets = targets_,
                            .features = feature_names(),
                            .weights = weights_,
                            .target_dtype = target_dtype_,
                            .allow_missing = allow_missing_,
                            .csv = csv_};
  if (part != "train" && features_.empty() && targets_.empty()) {
    // Targets of the training, which predict doesn't read, can't be told from features: they may lack.
    const std::vector<std::string> columns = columns_of(path, csv_);
    const auto lacks = [&](const std::string& name) {
      return std::find(columns.begin(), columns.end(), name) == columns.end();
    };
    options.features.erase(std::remove_if(options.features.begin(), options.features.end(), lacks),
                           options.features.end());
  }
  return csv_dataset(path, options);
}

std::vector<std::string> DataConfig::files(const std::string& part) const {
  const auto found = files_.find(part);
  if (found == files_.end() || (validation_split_ > 0 && part != "test")) return {};
  std::vector<std::string> out;
  for (const std::string& file : found->second) {
    out.push_back(std::filesystem::path(file).lexically_relative(path_of(part)).string());
  }
  return out;
}

/// Samples of the part before a split; empty if there is none.
Dataset DataConfig::whole(const std::string& part) const {
  if (part != "train") return read(part);
  if (!training_) training_ = read(part);
  return *training_;
}

Dataset DataConfig::read(const std::string& part) const {
  const std::string& path = path_of(part);
  if (name_ == "csv" || name_ == "images" || name_ == "npz") {
    if (path.empty()) return {};
    if (name_ == "npz") return npz_dataset(path, x_, y_);
    if (name_ == "images") return images(part);
    return table(part);
  }
  return part == "val" ? Dataset() : named(part);
}

DataLoader DataConfig::loader(const std::string& part, bool needed) const try {
  Dataset data;
  const bool splits = validation_split_ > 0 && part != "test";
  if (splits) {
    const Dataset train = whole("train");
    // Seed 0, so that evaluate and a resumed training have the same parts.
    if (train.size() > 0) {
      const auto parts = train.random_split({1 - validation_split_, validation_split_}, 0);
      data = parts[part == "train" ? 0 : 1];
      if (data.size() == 0) {
        fail_usage("data.validation_split {} of {} samples leaves none for {}", validation_split_, train.size(), part);
      }
    }
  } else {
    data = whole(part);
  }
  if (data.size() == 0) {
    if (needed)
      fail_usage("data.{} must name samples; got none: set it in the configuration or by --data.{}", part, part);
    return {};
  }
  return DataLoader(data, {.batch_size = batch_size_, .shuffle = shuffle_ && part == "train", .workers = workers_});
} catch (const NameError& error) {  // a column, an array or a color mode
  throw UsageError(error.what());
}

}  // namespace mezzo::cli
