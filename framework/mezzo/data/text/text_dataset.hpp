#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/folder_dataset.hpp>
#include <mezzo/data/text/strings.hpp>

namespace mezzo {

/// Texts with labels, read by index. map() makes a data set of numbers from them. Copies share the texts.
class MEZZO_API TextDataset {
 public:
  TextDataset() = default;

  /// Texts in memory, shape (count,), and the rows of `labels`. Throws a ShapeError for other shapes.
  explicit TextDataset(Strings texts, std::optional<Tensor> labels = std::nullopt,
                       std::vector<std::string> class_names = {});

  /// Texts that a function reads, which several threads call at the same time. Throws as from_function() of Dataset.
  TextDataset(std::int64_t size, std::function<std::string(std::int64_t index)> text, std::optional<Field> label = {},
              std::function<Tensor(std::int64_t index)> label_of = {}, std::vector<std::string> class_names = {},
              std::vector<std::string> file_paths = {});

  /// Number of texts.
  std::int64_t size() const;

  /// Text `index` in [0, size()). Throws a ValueError for another index, a FileError if its file can't be read.
  std::string text(std::int64_t index) const;

  /// All texts, shape (size(),), for adapt() of preprocessing.
  Strings texts() const;

  /// All labels. Throws a ValueError if there are none.
  Tensor labels() const;

  /// Names of the classes, by label.
  const std::vector<std::string>& class_names() const;

  /// Files of the texts, by index; empty for texts in memory.
  const std::vector<std::string>& file_paths() const;

  /// A data set of the fields `text`, the function's result for each text (input), and `label` (target), if there are
  /// labels: `texts.map(vectorize)`. Loaders call the function in their threads, several at the same time. The results
  /// must all have the shape and the dtype of the result for text 0, which is computed at once; TextVectorization needs
  /// an output_sequence_length for that. Throws a ValueError for a data set without texts.
  Dataset map(std::function<Tensor(const Strings& text)> function) const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

/// Options of text_dataset_from_directory, in Keras' order. `batch_size`, and a new order in each epoch, are options of
/// the DataLoader.
struct TextDatasetOptions {
  detail::FolderLabels labels = "inferred";               ///< "inferred", one number for each file, or std::nullopt
  std::optional<std::string> label_mode = "int";          ///< "int", "categorical", "binary" or std::nullopt
  std::optional<std::vector<std::string>> class_names{};  ///< sub-folders in the order of their labels; default: all
  std::optional<std::int64_t> max_length{};               ///< most bytes of a text; default: all
  bool shuffle = true;                                    ///< true: the files in random order; false: by path
  std::optional<std::uint64_t> seed{};                    ///< seed of the order; default: that of seed_everything()
  std::optional<double> validation_split{};               ///< share of the files in the validation part, in (0, 1)
  std::optional<std::string> subset{};  ///< "training" or "validation"; for "both": text_datasets_from_directory()
  bool follow_links = false;            ///< true: enters folders by symbolic links
};

/// Texts in the files `directory/class/.../file.txt`, as keras.utils.text_dataset_from_directory. Labels, options and
/// errors are those of image_dataset_from_directory(). A file is read when its text is read; at most 1 GiB each.
MEZZO_API TextDataset text_dataset_from_directory(const std::string& directory, const TextDatasetOptions& options = {});

/// The training and the validation part: Keras' subset="both".
MEZZO_API std::pair<TextDataset, TextDataset> text_datasets_from_directory(const std::string& directory,
                                                                           const TextDatasetOptions& options);

}  // namespace mezzo
