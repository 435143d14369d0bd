#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo::datasets {

struct BibleKjvOptions {
  /// Folder that holds `bible.data`, or a folder `bible-kjv` with it; "" searches.
  std::string root{};
};

/// Texts and their classes, for a tokenizer: `encode_batch(data.texts)` makes the tensors of a data set.
struct LabeledTexts {
  std::vector<std::string> texts{};
  /// int64 (texts,).
  Tensor labels{};
};

/// The King James Version (1611; public domain) as a task for text classification: which part of the Bible a verse is
/// from. The label is the index in bible_kjv_classes(). 31,102 verses; of every chapter, either all are for training
/// or all for testing, about one chapter in ten, so that no verse is tested whose neighbours were trained on. Which
/// they are is fixed by the chapter alone.
///
/// Reads `bible.data` of Debian's package `bible-kjv-text` from the first of these folders that has it: `root` or
/// `bible-kjv` in it; if `root` is "", `bible-kjv` in the environment's MEZZO_DATA, in /usr/local/share/datasets or in
/// /usr/share/datasets, or /usr/lib, where the package has it. Nothing is downloaded. A FileError that lists the places
/// looked in and the package if there is none, or if the file is corrupt.
std::pair<LabeledTexts, LabeledTexts> bible_kjv(const BibleKjvOptions& options = {});

/// The whole text in its order for language models, a verse a line without chapter and number; found as by bible_kjv().
std::string bible_kjv_text(const BibleKjvOptions& options = {});

/// Law (Genesis to Deuteronomy), History (to Esther), Wisdom (to Song of Solomon), Prophets (to Malachi), Gospels,
/// Acts, Epistles (Romans to Jude), Revelation.
const std::vector<std::string>& bible_kjv_classes();

}  // namespace mezzo::datasets
