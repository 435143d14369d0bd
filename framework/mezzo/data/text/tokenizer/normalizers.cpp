#include <mezzo/data/text/tokenizer/normalizers.hpp>

#include <mezzo/data/text/tokenizer/byte_characters.hpp>
#include <mezzo/data/text/tokenizer/characters.hpp>
#include <mezzo/data/text/tokenizer/function_part.hpp>

namespace mezzo::detail {
namespace {

/// Calls the function for texts with characters.
template <class Function>
NormalizerPtr normalizer_of(Function function) {
  return part_of_function<Normalizer, AlignedText>([function = std::move(function)](AlignedText& text) {
    if (!text.empty()) function(text);
  });
}

void lowercase(AlignedText& text) {
  text.rebuild([](AlignedText& out, char32_t c, ByteRange range) {
    if (c == capital_i_with_dot) {
      out.append(U'i', range);
      out.append(dot_above, range);
    } else {
      out.append(to_lower(c), range);
    }
  });
}

template <class Drop>
void drop_characters(AlignedText& text, Drop&& drop) {
  text.rebuild([&](AlignedText& out, char32_t c, ByteRange range) {
    if (!drop(c)) out.append(c, range);
  });
}

void normalize_as_bert(AlignedText& text, const BertCleaning& options) {
  const bool chinese = options.handle_chinese_chars;
  if (options.clean_text || chinese) {
    text.rebuild([&](AlignedText& out, char32_t c, ByteRange range) {
      if (options.clean_text) {
        if (c == 0 || c == 0xFFFD || is_control(c)) return;
        if (is_white_space(c)) c = ' ';
      }
      if (!chinese || !is_cjk(c)) return out.append(c, range);
      out.append(U' ', range);
      out.append(c, range);
      out.append(U' ', range);
    });
  }
  if (options.strip_accents.value_or(options.lowercase)) {
    normalize_unicode(text, UnicodeForm::nfd);
    drop_characters(text, is_nonspacing_mark);
  }
  if (options.lowercase) lowercase(text);
}

void strip(AlignedText& text, bool left, bool right) {
  std::size_t first = text.text.size();
  std::size_t last = 0;
  for_each_character_of(text.text, [&](char32_t c, std::size_t begin, std::size_t end) {
    if (is_white_space(c)) return;
    first = std::min(first, begin);
    last = end;
  });
  if (!left) first = 0;
  if (!right) last = text.text.size();
  AlignedText out = text.emptied();
  if (first < last) out.append(text, first, last);
  text = std::move(out);
}

void replace(AlignedText& text, const TextPattern& pattern, const std::string& content) {
  AlignedText out = text.emptied();
  pattern.for_each_part(text.text, [&](std::size_t begin, std::size_t end, bool is_match) {
    if (!is_match) return out.append(text, begin, end);
    out.append(content, end == 0 ? ByteRange{text.begin, text.begin} : text.alignment[end - 1]);
  });
  text = std::move(out);
}

/// Control characters that neural machine translation drops.
bool is_dropped_by_nmt(char32_t c) {
  return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}

/// Characters that become spaces there.
bool is_space_of_nmt(char32_t c) {
  return c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 ||
         c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
}

}  // namespace

NormalizerPtr bert_normalizer(const BertCleaning& options) {
  return normalizer_of([options](AlignedText& text) { normalize_as_bert(text, options); });
}

NormalizerPtr unicode_normalizer(UnicodeForm form) {
  return normalizer_of([form](AlignedText& text) { normalize_unicode(text, form); });
}

NormalizerPtr lowercase_normalizer() {
  return normalizer_of([](AlignedText& text) { lowercase(text); });
}

NormalizerPtr strip_accents_normalizer() {
  return normalizer_of([](AlignedText& text) { drop_characters(text, is_mark); });
}

NormalizerPtr strip_normalizer(bool left, bool right) {
  return normalizer_of([=](AlignedText& text) { strip(text, left, right); });
}

NormalizerPtr replace_normalizer(TextPattern pattern, std::string content) {
  return normalizer_of([pattern = std::move(pattern), content = std::move(content)](AlignedText& text) {
    replace(text, pattern, content);
  });
}

NormalizerPtr prepend_normalizer(std::string prefix) {
  return normalizer_of([prefix = std::move(prefix)](AlignedText& text) { text.prepend(prefix); });
}

NormalizerPtr nmt_normalizer() {
  return normalizer_of([](AlignedText& text) {
    text.rebuild([](AlignedText& out, char32_t c, ByteRange range) {
      if (!is_dropped_by_nmt(c)) out.append(is_space_of_nmt(c) ? U' ' : c, range);
    });
  });
}

NormalizerPtr byte_level_normalizer() {
  return normalizer_of([](AlignedText& text) {
    AlignedText out = text.emptied();
    append_byte_characters(text, 0, text.text.size(), out);
    text = std::move(out);
  });
}

NormalizerPtr normalizer_sequence(std::vector<NormalizerPtr> normalizers) {
  return normalizer_of([all = std::move(normalizers)](AlignedText& text) {
    for (const NormalizerPtr& one : all) one->apply(text);
  });
}

}  // namespace mezzo::detail
