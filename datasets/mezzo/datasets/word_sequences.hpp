#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::datasets {

/// Texts as lists of word numbers of different lengths, with their labels (int64). pad_sequences() makes arrays of the
/// lists.
struct WordSequences {
  std::vector<std::vector<std::int64_t>> x;  ///< one list of word numbers per text
  Tensor y;                                  ///< labels: int64 (texts,)
};

/// Options of imdb and reuters, in Keras' order.
struct WordSequencesOptions {
  /// Folder that holds the file, or that holds a folder `imdb` or `reuters` with it. "": searches as mnist() does.
  std::string root{};
  std::optional<std::int64_t> num_words{};     ///< numbers from here on become oov_char; default: all are kept
  std::int64_t skip_top = 0;                   ///< numbers below become oov_char, too
  std::optional<std::int64_t> maxlen{};        ///< longer texts, and in Keras those of this length, are left out
  double test_split = 0.2;                     ///< share of the test set, in [0, 1]; for reuters only
  std::uint32_t seed = 113;                    ///< seed of the order of the texts
  std::optional<std::int64_t> start_char = 1;  ///< number in front of each text; std::nullopt: none
  std::optional<std::int64_t> oov_char = 2;    ///< number of left-out words; std::nullopt: they are dropped
  std::int64_t index_from = 3;                 ///< added to all word numbers
};

/// Reviews of films with labels 0 (bad) and 1 (good) (Maas et al., 2011): 25,000 texts for training, 25,000 for
/// testing, of Keras' file `imdb.npz`, in Keras' order. Its lists are pickles: their code is not run, and only lists of
/// integers are accepted. The search for the file is that of mnist(); nothing is downloaded. Throws a FileError with
/// the searched folders if there is no file, and if it is corrupt, a ValueError if maxlen leaves no text, or for a
/// test_split, because the file has fixed parts.
MEZZO_API std::pair<WordSequences, WordSequences> imdb(const WordSequencesOptions& options = {});

/// News wires of 46 topics, of Keras' file `reuters.npz`: 11,228 texts, split by test_split. Otherwise as imdb().
MEZZO_API std::pair<WordSequences, WordSequences> reuters(const WordSequencesOptions& options = {});

}  // namespace mezzo::datasets
