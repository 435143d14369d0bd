#include <mezzo/datasets/word_sequences.hpp>

#include <algorithm>
#include <random>

#include <mezzo/core/fail.hpp>
#include <mezzo/datasets/search.hpp>
#include <mezzo/io/npz_lists.hpp>

namespace mezzo::datasets {
namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

struct Texts {
  Lists x;
  std::vector<std::int64_t> y;
};

/// Order of numpy.random.RandomState.shuffle of `count` entries, with its generator.
std::vector<std::size_t> numpy_order(std::size_t count, std::mt19937& generator) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i-- > 1;) {
    std::size_t mask = i;
    for (unsigned shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
    std::size_t place = generator() & mask;
    while (place > i) place = generator() & mask;
    std::swap(order[i], order[place]);
  }
  return order;
}

/// Arrays `x` and `y` of a file, in random order, with start_char and index_from, without long texts.
Texts read_texts(const mezzo::detail::NpzLists& file, const std::string& path, const std::string& x,
                 const std::string& y, const WordSequencesOptions& options, std::mt19937& generator) {
  const auto lists = file.lists.find(x);
  const auto labels = file.tensors.find(y);
  if (lists == file.lists.end() || labels == file.tensors.end() ||
      labels->second.shape() != Shape{static_cast<std::int64_t>(lists->second.size())}) {
    fail<FileError>("[datasets]", "\"{}\" must have lists \"{}\" and a label of each in \"{}\"", path, x, y);
  }
  const Tensor classes = labels->second.cast(DType::int64);
  Texts texts;
  for (const std::size_t i : numpy_order(lists->second.size(), generator)) {
    std::vector<std::int64_t> words;
    if (options.start_char) words.push_back(*options.start_char);
    for (const std::int64_t word : lists->second[i]) words.push_back(word + options.index_from);
    if (options.maxlen && static_cast<std::int64_t>(words.size()) >= *options.maxlen) continue;
    texts.x.push_back(std::move(words));
    texts.y.push_back(classes.data<std::int64_t>()[i]);
  }
  if (texts.x.empty()) {
    fail<ValueError>("[datasets]", "\"{}\": maxlen must leave a text; got {}", path, options.maxlen.value_or(0));
  }
  return texts;
}

WordSequences limited(const Texts& texts, std::size_t begin, std::size_t end, const WordSequencesOptions& options) {
  WordSequences out;
  for (std::size_t i = begin; i < end; ++i) {
    std::vector<std::int64_t>& words = out.x.emplace_back();
    for (const std::int64_t word : texts.x[i]) {
      const bool kept = word >= options.skip_top && (!options.num_words || word < *options.num_words);
      if (kept) words.push_back(word);
      if (!kept && options.oov_char) words.push_back(*options.oov_char);
    }
  }
  const std::vector<std::int64_t> y(texts.y.begin() + static_cast<std::ptrdiff_t>(begin),
                                    texts.y.begin() + static_cast<std::ptrdiff_t>(end));
  out.y = Tensor({static_cast<std::int64_t>(y.size())}, y);
  return out;
}

std::string path_of(const char* name, const WordSequencesOptions& options) {
  const std::string file = std::string(name) + ".npz";
  const std::string folder = detail::find_folder(name, options.root, file, "Keras' data set of this name has the file");
  return detail::require_file(folder, file);
}

/// Without num_words Keras sets num_words to the largest number, and so replaces that number.
WordSequencesOptions with_num_words(WordSequencesOptions options, const std::vector<const Texts*>& all) {
  if (options.num_words && *options.num_words != 0) return options;
  std::int64_t most = 0;
  for (const Texts* texts : all) {
    for (const auto& words : texts->x) {
      for (const std::int64_t word : words) most = std::max(most, word);
    }
  }
  options.num_words = most;
  return options;
}

}  // namespace

std::pair<WordSequences, WordSequences> imdb(const WordSequencesOptions& options) {
  if (options.test_split != WordSequencesOptions{}.test_split) {
    fail<ValueError>("[imdb]", "test_split must be left out: the file has a test set; got {}", options.test_split);
  }
  const std::string path = path_of("imdb", options);
  const mezzo::detail::NpzLists file = mezzo::detail::load_npz_lists(path);
  std::mt19937 generator(options.seed);
  const Texts training = read_texts(file, path, "x_train", "y_train", options, generator);
  const Texts test = read_texts(file, path, "x_test", "y_test", options, generator);
  const WordSequencesOptions all = with_num_words(options, {&training, &test});
  return {limited(training, 0, training.x.size(), all), limited(test, 0, test.x.size(), all)};
}

std::pair<WordSequences, WordSequences> reuters(const WordSequencesOptions& options) {
  if (!(options.test_split >= 0 && options.test_split <= 1)) {
    fail<ValueError>("[reuters]", "test_split must lie in [0, 1]; got {}", options.test_split);
  }
  const std::string path = path_of("reuters", options);
  std::mt19937 generator(options.seed);
  const Texts texts = read_texts(mezzo::detail::load_npz_lists(path), path, "x", "y", options, generator);
  const WordSequencesOptions all = with_num_words(options, {&texts});
  const auto count = static_cast<std::size_t>(static_cast<double>(texts.x.size()) * (1 - options.test_split));
  return {limited(texts, 0, count, all), limited(texts, count, texts.x.size(), all)};
}

}  // namespace mezzo::datasets
