#include <mezzo/data/text/tokenizer/token_decoders.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>
#include <mezzo/data/text/tokenizer/aligned_text.hpp>
#include <mezzo/data/text/tokenizer/byte_characters.hpp>
#include <mezzo/data/text/tokenizer/function_part.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

using TokenList = std::vector<std::string>;

constexpr std::size_t most_decoded_bytes = std::size_t{1} << 28U;

template <class Function>
TokenDecoderPtr decoder_of(Function function) {
  return part_of_function<TokenDecoder, TokenList>(std::move(function));
}

std::string replaced(const std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find(from); at != std::string::npos && !from.empty(); at = text.find(from, done)) {
    out.append(text, done, at - done).append(to);
    if (out.size() > most_decoded_bytes) {
      fail<ValueError>("[Tokenizer]", "a decoded text must have at most {} bytes", most_decoded_bytes);
    }
    done = at + from.size();
  }
  return out.append(text, done);
}

/// Removes the spaces that English does not have before punctuation and contractions.
std::string without_odd_spaces(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> replacements{{{" .", "."},
                                                                                        {" ?", "?"},
                                                                                        {" !", "!"},
                                                                                        {" ,", ","},
                                                                                        {" ' ", "'"},
                                                                                        {" n't", "n't"},
                                                                                        {" 'm", "'m"},
                                                                                        {" do not", " don't"},
                                                                                        {" 's", "'s"},
                                                                                        {" 've", "'ve"},
                                                                                        {" 're", "'re"}}};
  if (text.find(' ') == std::string::npos) return text;
  for (const auto& [from, to] : replacements) text = replaced(text, from, to);
  return text;
}

std::string joined(const TokenList& tokens) {
  std::string out;
  for (const std::string& token : tokens) out += token;
  return out;
}

/// Byte of a token such as `<0x0A>`; -1 if it is another token.
int byte_of_token(const std::string& token) {
  if (token.size() != 6 || token.compare(0, 3, "<0x") != 0 || token[5] != '>') return -1;
  constexpr std::string_view digits = "0123456789abcdef0123456789ABCDEF";
  const std::size_t high = digits.find(token[3]);
  const std::size_t low = digits.find(token[4]);
  // Rust's parser of numbers takes a sign.
  if (token[3] == '+' && low != std::string_view::npos) return static_cast<int>(low % 16);
  return high == std::string_view::npos || low == std::string_view::npos ? -1
                                                                         : static_cast<int>(high % 16 * 16 + low % 16);
}

void decode_bytes(TokenList& tokens) {
  TokenList out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (is_utf8(bytes)) {
      out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), encode_utf8(std::u32string(1, replacement_character)));
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    const int byte = byte_of_token(token);
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    flush();
    out.push_back(std::move(token));
  }
  flush();
  tokens = std::move(out);
}

/// Without at most `start` and `stop` characters `content` at its ends.
std::string stripped(const std::string& token, char32_t content, std::size_t start, std::size_t stop) {
  const std::u32string characters = decode_utf8(token);
  std::size_t begin = 0;
  while (begin < std::min(start, characters.size()) && characters[begin] == content) ++begin;
  std::size_t count = 0;
  while (count < std::min(stop, characters.size() - begin) && characters[characters.size() - 1 - count] == content) {
    ++count;
  }
  return encode_utf8(std::u32string_view(characters).substr(begin, characters.size() - begin - count));
}

}  // namespace

TokenDecoderPtr byte_level_decoder() {
  return decoder_of([](TokenList& tokens) {
    std::string bytes;
    for (const std::string& token : tokens) append_bytes_of_characters(token, bytes);
    std::string valid;
    append_valid_utf8(valid, bytes);
    tokens.assign(1, valid);
  });
}

TokenDecoderPtr word_piece_decoder(std::string prefix, bool cleanup) {
  return decoder_of([=, prefix = std::move(prefix)](TokenList& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && token.compare(0, prefix.size(), prefix) == 0) {
        token.erase(0, prefix.size());
      } else if (i > 0) {
        token = fmt::format(" {}", token);
      }
      if (cleanup) token = without_odd_spaces(std::move(token));
    }
  });
}

TokenDecoderPtr metaspace_decoder(char32_t replacement, bool drops_first) {
  std::string mark;
  append_utf8(mark, replacement);
  return decoder_of([=](TokenList& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = replaced(tokens[i], mark, i == 0 && drops_first ? "" : " ");
    }
  });
}

TokenDecoderPtr bpe_decoder(std::string suffix) {
  return decoder_of([suffix = std::move(suffix)](TokenList& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = replaced(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    }
  });
}

TokenDecoderPtr byte_fallback_decoder() { return decoder_of(decode_bytes); }

TokenDecoderPtr fuse_decoder() {
  return decoder_of([](TokenList& tokens) { tokens.assign(1, joined(tokens)); });
}

TokenDecoderPtr strip_decoder(char32_t content, std::size_t start, std::size_t stop) {
  return decoder_of([=](TokenList& tokens) {
    for (std::string& token : tokens) token = stripped(token, content, start, stop);
  });
}

TokenDecoderPtr replace_decoder(TextPattern pattern, std::string content) {
  return decoder_of([pattern = std::move(pattern), content = std::move(content)](TokenList& tokens) {
    for (std::string& token : tokens) {
      std::string out;
      pattern.for_each_part(token, [&](std::size_t begin, std::size_t end, bool is_match) {
        out += is_match ? content : token.substr(begin, end - begin);
        if (out.size() > most_decoded_bytes) {
          fail<ValueError>("[Tokenizer]", "a decoded text must have at most {} bytes", most_decoded_bytes);
        }
      });
      token = std::move(out);
    }
  });
}

TokenDecoderPtr ctc_decoder(std::string pad_token, std::string word_delimiter_token, bool cleanup) {
  return decoder_of([=, pad = std::move(pad_token), delimiter = std::move(word_delimiter_token)](TokenList& tokens) {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    TokenList out;
    for (const std::string& token : tokens) {
      std::string text = replaced(token, pad, "");
      if (cleanup) text = replaced(without_odd_spaces(std::move(text)), delimiter, " ");
      if (!text.empty()) out.push_back(std::move(text));
    }
    tokens = std::move(out);
  });
}

TokenDecoderPtr decoder_sequence(std::vector<TokenDecoderPtr> decoders) {
  return decoder_of([all = std::move(decoders)](TokenList& tokens) {
    for (const TokenDecoderPtr& one : all) one->apply(tokens);
  });
}

}  // namespace mezzo::detail
