#include <mezzo/data/text/tokenizer/pieces.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void Pieces::append(const AlignedText& text, std::size_t from, std::size_t to, std::optional<std::uint32_t> token) {
  if (from == to) return;
  constexpr std::size_t longest = std::size_t{1} << 30U;  // in bytes; places have 32 bits
  if (text_.text.size() + (to - from) > longest) {
    fail<ValueError>("[Tokenizer]", "a normalized text must have at most {} bytes", longest);
  }
  const auto begin = static_cast<std::uint32_t>(text_.text.size());
  text_.append(text, from, to);
  list_.push_back({begin, static_cast<std::uint32_t>(text_.text.size()), text.alignment[from].begin, token});
}

void Pieces::add_parts(const Piece& piece, const std::vector<Part>& parts, SplitBehavior behavior,
                       std::vector<Piece>& out) {
  const std::size_t first = out.size();
  const auto add = [&](const Part& part) {
    const std::uint32_t begin = piece.begin + part.begin;
    out.push_back({begin, piece.begin + part.end, part.begin == part.end ? piece.origin : text_.alignment[begin].begin,
                   std::nullopt});
  };
  bool previous = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    bool joins = false;  // extends the piece before
    if (behavior == SplitBehavior::removed && part.is_match) continue;
    if (behavior == SplitBehavior::contiguous) joins = part.is_match == previous;
    if (behavior == SplitBehavior::merged_with_previous) joins = part.is_match && !previous;
    // Only the last match of a run joins the text behind it.
    if (behavior == SplitBehavior::merged_with_next) joins = i > 0 && parts[i - 1].is_match && !part.is_match;
    if (joins && out.size() > first) {
      out.back().end = piece.begin + part.end;
    } else {
      add(part);
    }
    previous = part.is_match;
  }
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                           [](const Piece& one) { return one.begin == one.end; }),
            out.end());
}

}  // namespace mezzo::detail
