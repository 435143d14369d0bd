#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mezzo::detail {

/// Tokens [begin, begin + count) of a text in a row.
struct PackedPart {
  std::int64_t text = 0;
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t whole = 0;  ///< tokens of the whole text
};

/// Order in which texts are put in rows; see PackTextsOptions.
enum class PackingStrategy { wrapped, best_fit, padded };

/// The strategy of that name. Throws a NameError that starts with `where` if there is none.
PackingStrategy packing_strategy(const std::string& name, const std::string& where);

/// Rows of at most `length` tokens, made of parts of texts.
class PackedRows {
 public:
  PackedRows(const std::vector<std::int64_t>& text_lengths, std::int64_t length, PackingStrategy strategy);

  std::int64_t size() const { return static_cast<std::int64_t>(begins_.size()) - 1; }

  /// The parts of a row, by text.
  std::vector<PackedPart> row(std::int64_t index) const;

 private:
  void wrap(const std::vector<std::int64_t>& text_lengths, std::int64_t length);
  void fit(const std::vector<PackedPart>& parts, std::int64_t length);

  std::vector<PackedPart> parts_;          // by row
  std::vector<std::size_t> begins_ = {0};  // of the rows in parts_, and the end
};

}  // namespace mezzo::detail
