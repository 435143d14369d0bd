#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/data/folder_dataset.hpp>

namespace mezzo::detail {

/// Options that data sets of folders share.
struct FolderOptions {
  std::string where;
  FolderLabels labels = "inferred";
  std::optional<std::string> label_mode;
  std::optional<std::vector<std::string>> class_names;
  bool shuffle = true;
  std::optional<std::uint64_t> seed;
  std::optional<double> validation_split;
  std::optional<std::string> subset;
  bool follow_links = false;
  std::vector<std::string> endings;  ///< endings of the files to read, lower case: ".png"
  /// "skip": files with other endings are left out, with a warning that counts them; "error": they are a FileError; "":
  /// they are no part of the set. Hidden files never are.
  std::string unreadable;
  /// Throws an Error if a file can't be read. Called for each file, in several threads. Not given: no file is read.
  std::function<void(const std::string& path)> verify;
};

/// Files of a folder with their labels.
struct FolderFiles {
  std::vector<std::string> paths;
  std::vector<std::int64_t> labels;  ///< empty without labels
  std::vector<std::string> class_names;
  std::string label_mode;            ///< "" without labels
  std::vector<std::string> skipped;  ///< files that can't be read

  bool labelled() const { return !label_mode.empty(); }
  /// Field of the labels.
  Field label_field() const;
  /// Label of a file, by label_mode.
  Tensor label(std::size_t file) const;
};

/// Lists the files of a folder in the order of Keras' index_directory, optionally shuffled by the seed, and takes the
/// part named by options.subset.
FolderFiles folder_files(const std::string& directory, const FolderOptions& options);

/// The training and the validation part: Keras' subset="both". options.subset must not be set.
std::pair<FolderFiles, FolderFiles> both_folder_files(const std::string& directory, FolderOptions options);

}  // namespace mezzo::detail
