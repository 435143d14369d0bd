#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/cli/section.hpp>
#include <mezzo/data/folder_dataset.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/data/tables/read_csv_options.hpp>

namespace mezzo::cli {

/// Section "data": a kind of data by name, its files and the options of the loaders.
class DataConfig {
 public:
  /// Reads the section and completes it. Opens no file. A UsageError for unknown names and members.
  explicit DataConfig(Json& json);

  /// Loader of the part "train", "val" or "test"; an absent one if the configuration has no such part. Only the loader
  /// of "train" shuffles. A UsageError for a part that is needed but not configured.
  DataLoader loader(const std::string& part, bool needed) const;

  /// Lets pictures of the parts "val" and "test" lie in the folder itself, without classes: for predictions.
  void allow_no_labels() { needs_labels_ = false; }

  /// Names of the classes of pictures, by label, after the loader of "train" was made; empty for other data.
  const std::vector<std::string>& class_names() const;

  /// Features of a table, in the order of their columns in `x`: those of the configuration, else all other columns of
  /// the file of "train". Empty for other data, and if neither is there.
  std::vector<std::string> feature_names() const;

  /// Files of the samples of a part, relative to its folder, after its loader was made; empty if it isn't a folder of
  /// pictures, or a part of a split.
  std::vector<std::string> files(const std::string& part) const;

 private:
  void read_table(Section& section);
  void read_images(Section& section);
  Dataset whole(const std::string& part) const;
  Dataset read(const std::string& part) const;
  Dataset images(const std::string& part) const;
  Dataset table(const std::string& part) const;
  detail::FolderDataset images_in(const std::string& folder, bool labels = true) const;
  Dataset named(const std::string& part) const;
  const std::string& path_of(const std::string& part) const;

  std::string name_ = "csv", root_, train_, val_, test_, weights_, color_mode_ = "rgb", unreadable_ = "skip", x_ = "x",
              y_ = "y";
  std::vector<std::string> targets_, features_;
  DType target_dtype_ = DType::float32;
  ReadCsvOptions csv_;
  std::vector<std::int64_t> image_size_{256, 256};
  double validation_split_ = 0;
  std::int64_t batch_size_ = 32;
  bool allow_missing_ = false, verify_ = false, shuffle_ = true, needs_labels_ = true;
  int workers_ = 1;
  // Read once for all parts: those of a split, features of tables, and classes of pictures.
  mutable std::optional<std::vector<std::string>> feature_names_;
  mutable std::optional<Dataset> training_;
  mutable std::optional<std::vector<std::string>> classes_;
  mutable std::map<std::string, std::vector<std::string>> files_;  // paths of the samples by part
};

}  // namespace mezzo::cli
