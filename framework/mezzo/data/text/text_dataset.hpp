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

class Tokenizer;

/// Options of TextDataset::pack.
struct PackTextsOptions {
  /// Required; number of tokens of a row, at least 1.
  std::int64_t length = 0;
  /// "wrapped": the texts one after the other; one that doesn't fit in the rest of a row goes on in the next row.
  /// "best_fit": texts are not divided unless they are longer than a row; each goes to the row that it fills best,
  /// longer ones first. "padded": one text a row, with padding.
  std::string strategy = "wrapped";
  /// Id that follows each text, such as that of <|endoftext|>. Default: none.
  std::optional<std::int64_t> end_id{};
  /// Id of padding.
  std::int64_t pad_id = 0;
  /// Label of tokens without a next one: the ignore_class of the loss.
  std::int64_t ignore_id = -100;
};

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

  /// Rows of fixed length for language models, made of the tokens of the texts: `texts.pack(tokenizer, {.length = 1024,
  /// .end_id = 50256})`. Fields, all int64 (length,):
  ///
  /// | field | |
  /// | --- | --- |
  /// | input_ids (input) | tokens, then `pad_id` |
  /// | position_ids (input) | positions in the text's part of the row: 0, 1, ...; 0 for padding |
  /// | segment_ids (input) | number of the part in the row: 1, 2, ...; 0 for padding |
  /// | labels (target) | the next token of the text; `ignore_id` at its end and for padding |
  ///
  /// GPT and Llama take the three inputs: tokens attend to tokens of their part alone. A text longer than a row is cut
  /// into parts of `length` tokens.
  ///
  /// Lengths of all texts are found at once, in all threads, by encoding each of them; a text of more than `length`
  /// tokens is kept encoded, 4 bytes a token. The others are encoded again when a row is read, by the threads of the
  /// loader. Throws a ValueError for options out of range, for texts without tokens and for ids that are negative,
  /// 2^31 or more, or ignore_id, and the errors of `encode` with the number of the text; a NameError for an unknown
  /// strategy. Labels of the texts are left out.
  Dataset pack(std::function<std::vector<std::int64_t>(const std::string& text)> encode,
               const PackTextsOptions& options) const;

  /// The same with the special tokens that the tokenizer adds, and its truncation, but without its padding. Throws a
  /// ValueError unless pad_id and end_id are ids of tokens, and ignore_id is pad_id or no id of a token.
  Dataset pack(const Tokenizer& tokenizer, const PackTextsOptions& options) const;

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
