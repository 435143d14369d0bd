#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {

namespace detail {
/// Labels of the files in a folder: "inferred" (each sub-folder is a class), one number for each file in the order of
/// their paths, or std::nullopt (none).
class FolderLabels {
 public:
  FolderLabels(const char* inferred) : name_(inferred) {}
  FolderLabels(std::string inferred) : name_(std::move(inferred)) {}
  FolderLabels(std::nullopt_t) {}
  FolderLabels(std::vector<std::int64_t> labels) : labels_(std::move(labels)) {}
  FolderLabels(std::initializer_list<std::int64_t> labels) : labels_(std::vector<std::int64_t>(labels)) {}

  const std::optional<std::string>& name() const { return name_; }
  const std::optional<std::vector<std::int64_t>>& labels() const { return labels_; }

 private:
  std::optional<std::string> name_;
  std::optional<std::vector<std::int64_t>> labels_;
};

/// A data set of the files in a folder.
class FolderDataset : public Dataset {
 public:
  FolderDataset() = default;
  FolderDataset(Dataset data, std::vector<std::string> class_names, std::vector<std::string> file_paths,
                std::vector<std::string> skipped_files = {})
      : Dataset(std::move(data)),
        class_names_(std::move(class_names)),
        file_paths_(std::move(file_paths)),
        skipped_files_(std::move(skipped_files)) {}

  /// Names of the classes, by label. Empty without labels.
  const std::vector<std::string>& class_names() const { return class_names_; }

  /// Files of the samples, by index.
  const std::vector<std::string>& file_paths() const { return file_paths_; }

  /// Files of the folder that can't be read and were left out, before the set was divided into parts.
  const std::vector<std::string>& skipped_files() const { return skipped_files_; }

 private:
  std::vector<std::string> class_names_, file_paths_, skipped_files_;
};
}  // namespace detail

}  // namespace mezzo
