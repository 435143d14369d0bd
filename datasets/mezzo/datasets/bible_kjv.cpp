#include <mezzo/datasets/bible_kjv.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/datasets/bible_file.hpp>
#include <mezzo/datasets/search.hpp>
#include <mezzo/io/gzip.hpp>

namespace mezzo::datasets {
namespace {

// The file's abbreviations of the books, in the order of the text.
constexpr std::array<std::string_view, 66> books{
    "Ge",   "Exo",  "Lev",  "Num",   "Deu",  "Josh",  "Jdgs", "Ruth", "1Sm",  "2Sm", "1Ki", "2Ki",  "1Chr", "2Chr",
    "Ezra", "Neh",  "Est",  "Job",   "Psa",  "Prv",   "Eccl", "SSol", "Isa",  "Jer", "Lam", "Eze",  "Dan",  "Hos",
    "Joel", "Amos", "Obad", "Jonah", "Mic",  "Nahum", "Hab",  "Zep",  "Hag",  "Zec", "Mal", "Mat",  "Mark", "Luke",
    "John", "Acts", "Rom",  "1Cor",  "2Cor", "Gal",   "Eph",  "Phi",  "Col",  "1Th", "2Th", "1Tim", "2Tim", "Titus",
    "Phmn", "Heb",  "Jas",  "1Pet",  "2Pet", "1Jn",   "2Jn",  "3Jn",  "Jude", "Rev"};

// Number of books up to the end of each class.
constexpr std::array<std::size_t, 8> ends{5, 17, 22, 39, 43, 44, 65, 66};

struct Verse {
  std::string_view text;
  std::int64_t label = 0;
  bool is_test = false;
};

/// Parses lines like `Ge1:2 And the earth`: book, chapter, number of the verse, text.
class Parser {
 public:
  Parser(const std::string& text, const std::string& path) : text_(text), path_(path) {}

  std::vector<Verse> verses() {
    std::vector<Verse> found;
    std::string_view rest = text_;
    next_line(rest);  // the title
    while (!rest.empty()) found.push_back(verse(next_line(rest)));
    if (found.empty()) fail<FileError>("[bible_kjv]", "\"{}\" must have verses; got none", path_);
    return found;
  }

 private:
  std::string_view next_line(std::string_view& rest) {
    ++number_;
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  }

  Verse verse(std::string_view line) const {
    const std::size_t colon = line.find(':');
    const std::size_t space = line.find(' ');
    if (colon == std::string_view::npos || space == std::string_view::npos || colon > space) refuse(line);
    const std::size_t letter = line.find_last_not_of("0123456789", colon - 1);
    if (colon == 0 || letter == std::string_view::npos || letter + 1 == colon || space == colon + 1 ||
        line.substr(colon + 1, space - colon - 1).find_first_not_of("0123456789") != std::string_view::npos) {
      refuse(line);
    }
    const auto book = std::find(books.begin(), books.end(), line.substr(0, letter + 1));
    if (book == books.end()) refuse(line);
    const auto place = static_cast<std::size_t>(book - books.begin());
    const auto label = std::upper_bound(ends.begin(), ends.end(), place) - ends.begin();
    // The split must depend only on book and chapter.
    const std::uint64_t hash = mezzo::detail::mix(mezzo::detail::key_of("bible_kjv"),
                                                  mezzo::detail::key_of(std::string(line.substr(0, colon))));
    return {line.substr(space + 1), label, hash % 10 == 0};
  }

  [[noreturn]] void refuse(std::string_view line) const {
    fail<FileError>("[bible_kjv]",
                    "\"{}\": line {} of the text must be a verse like `Ge1:1 In the beginning`; got \"{}\"", path_,
                    number_, line.substr(0, 60));
  }

  const std::string& text_;
  const std::string& path_;
  std::int64_t number_ = 0;  // of the current line
};

/// Calls use(verses). The verses refer to a text that exists during the call only.
template <class Use>
void with_verses(const BibleKjvOptions& options, Use&& use) {
  const std::string folder = detail::find_folder("bible-kjv", options.root, "bible.data",
                                                 "Debian's package `bible-kjv-text` installs it", {"/usr/lib"});
  const std::string path = detail::require_file(folder, "bible.data");
  const std::string text = detail::read_bible_file(read_gzip_file(path, std::uint64_t{64} << 20), path);
  use(Parser(text, path).verses());
}

LabeledTexts part(const std::vector<Verse>& verses, bool is_test) {
  LabeledTexts out;
  std::vector<std::int64_t> labels;
  for (const Verse& verse : verses) {
    if (verse.is_test != is_test) continue;
    out.texts.emplace_back(verse.text);
    labels.push_back(verse.label);
  }
  out.labels = Tensor({static_cast<std::int64_t>(labels.size())}, labels);
  return out;
}

}  // namespace

std::pair<LabeledTexts, LabeledTexts> bible_kjv(const BibleKjvOptions& options) {
  std::pair<LabeledTexts, LabeledTexts> out;
  with_verses(options, [&](const std::vector<Verse>& verses) { out = {part(verses, false), part(verses, true)}; });
  return out;
}

std::string bible_kjv_text(const BibleKjvOptions& options) {
  std::string out;
  with_verses(options, [&](const std::vector<Verse>& verses) {
    for (const Verse& verse : verses) (out += verse.text) += '\n';
  });
  return out;
}

const std::vector<std::string>& bible_kjv_classes() {
  static const std::vector<std::string> classes{"Law",     "History", "Wisdom",   "Prophets",
                                                "Gospels", "Acts",    "Epistles", "Revelation"};
  return classes;
}

}  // namespace mezzo::datasets
