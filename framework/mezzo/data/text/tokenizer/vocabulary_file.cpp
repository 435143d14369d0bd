#include <mezzo/data/text/tokenizer/vocabulary_file.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/file_kind.hpp>

namespace mezzo::detail {

TokenVocabulary read_vocabulary_file(const std::string& path, const std::string& where) {
  constexpr std::uint64_t largest_vocabulary = std::uint64_t{256} << 20;  // in bytes
  check_kind_of_text(path, {}, where, "a text with a token in each line (vocab.txt)");
  const Bytes bytes = read_file(path, largest_vocabulary);
  TokenVocabulary out;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::uint64_t id = 0; !text.empty(); ++id) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (const auto old = out.find(line)) {
      fail<FileError>(where, "every line must hold another token; got \"{}\" in lines {} and {}", line, *old + 1,
                      id + 1);
    }
    out.add(std::string(line), id, where);
  }
  return out;
}

}  // namespace mezzo::detail
