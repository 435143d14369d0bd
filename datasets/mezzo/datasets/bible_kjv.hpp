#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::datasets {

struct BibleKjvOptions {
  /// Folder that holds `bible.data`, or that holds a folder `bible-kjv` with it. "": searches the places of
  /// bible_kjv().
  std::string root{};
};

/// Texts with their classes. `tokenizer.encode_batch(data.texts)` makes the input tensors of a data set.
struct LabeledTexts {
  /// One text per sample.
  std::vector<std::string> texts{};
  /// Class of each text: int64, shape (texts,).
  Tensor labels{};
};

/// The King James Version (1611; public domain) as text classification: the class is the part of the Bible that
/// contains the verse, an index in bible_kjv_classes(). Returns the training and the test set of 31,102 verses in
/// total. About one chapter in ten is in the test set, always as a whole: no test verse has a neighbour in the training
/// set. The split depends only on book and chapter.
///
/// Reads `bible.data` of Debian's package `bible-kjv-text` from the first folder that has it: `root` or `bible-kjv` in
/// it. If `root` is "": `bible-kjv` in the folder of the environment variable MEZZO_DATA, in /usr/local/share/datasets
/// or in /usr/share/datasets, or /usr/lib, where the package installs it. Downloads nothing. Throws a FileError with
/// the searched folders and the package's name if there is no file, and if the file is corrupt; an Error if mezzo was
/// built without libarchive.
MEZZO_API std::pair<LabeledTexts, LabeledTexts> bible_kjv(const BibleKjvOptions& options = {});

/// The whole text in its order, for language models: one verse per line, without chapter and number. Search and errors
/// are those of bible_kjv().
MEZZO_API std::string bible_kjv_text(const BibleKjvOptions& options = {});

/// Names of the classes: Law (Genesis to Deuteronomy), History (to Esther), Wisdom (to Song of Solomon), Prophets (to
/// Malachi), Gospels, Acts, Epistles (Romans to Jude), Revelation.
MEZZO_API const std::vector<std::string>& bible_kjv_classes();

}  // namespace mezzo::datasets
