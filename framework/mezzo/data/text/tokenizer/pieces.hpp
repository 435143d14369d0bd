#pragma once
#include <optional>

#include <mezzo/data/text/tokenizer/aligned_text.hpp>
#include <mezzo/data/text/tokenizer/text_pattern.hpp>

namespace mezzo::detail {

/// One piece of a divided text: bytes [begin, end) of it.
struct Piece {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t origin = 0;              ///< begin in the original text
  std::optional<std::uint32_t> token{};  ///< the added token that it is; such a piece doesn't change any more
};

/// A text that is divided into pieces, none of them empty.
class Pieces {
 public:
  const std::vector<Piece>& list() const { return list_; }
  const AlignedText& text() const { return text_; }
  std::string_view text_of(const Piece& piece) const {
    return std::string_view(text_.text).substr(piece.begin, piece.end - piece.begin);
  }

  /// Appends a piece with the text `part` of `text`, unless it is empty.
  void append(const AlignedText& text, std::size_t from, std::size_t to, std::optional<std::uint32_t> token);

  /// Divides each piece that is not a token. `parts(text, use)` calls use(begin, end, is_match) for the parts of its
  /// text in order.
  template <class Parts>
  void split(SplitBehavior behavior, Parts&& parts);

  /// Divides at each character for which `is_match` is true.
  template <class IsMatch>
  void split_at(SplitBehavior behavior, IsMatch&& is_match);

  /// Changes the text of each piece that is not a token. `change(text, piece, out)` appends the new text to `out`.
  template <class Change>
  void change(Change&& change);

 private:
  struct Part {
    std::uint32_t begin, end;
    bool is_match;
  };
  void add_parts(const Piece& piece, const std::vector<Part>& parts, SplitBehavior behavior, std::vector<Piece>& out);

  AlignedText text_;
  std::vector<Piece> list_;
};

template <class Parts>
void Pieces::split(SplitBehavior behavior, Parts&& parts) {
  std::vector<Piece> out;
  out.reserve(2 * list_.size());
  std::vector<Part> found;
  for (const Piece& piece : list_) {
    if (piece.token) {
      out.push_back(piece);
      continue;
    }
    found.clear();
    parts(text_of(piece), [&](std::size_t begin, std::size_t end, bool is_match) {
      found.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), is_match});
    });
    add_parts(piece, found, behavior, out);
  }
  list_ = std::move(out);
}

template <class IsMatch>
void Pieces::split_at(SplitBehavior behavior, IsMatch&& is_match) {
  split(behavior, [&](std::string_view text, auto&& use) {
    std::size_t done = 0;
    for_each_character_of(text, [&](char32_t c, std::size_t begin, std::size_t end) {
      if (!is_match(c)) return;
      if (done < begin) use(done, begin, false);
      use(begin, end, true);
      done = end;
    });
    if (done < text.size()) use(done, text.size(), false);
  });
}

template <class Change>
void Pieces::change(Change&& change) {
  AlignedText out;
  out.text.reserve(text_.text.size());
  out.alignment.reserve(text_.text.size());
  for (Piece& piece : list_) {
    const std::size_t begin = out.text.size();
    if (piece.token) {
      out.append(text_, piece.begin, piece.end);
    } else {
      change(text_, piece, out);
    }
    piece.begin = static_cast<std::uint32_t>(begin);
    piece.end = static_cast<std::uint32_t>(out.text.size());
  }
  text_ = std::move(out);
}

}  // namespace mezzo::detail
