#pragma once
#include <string_view>

#include <mezzo/data/text/tokenizer/flat_map.hpp>

namespace mezzo::detail {

/// Prefix tree of tokens, one node per byte. Node 0 is the root.
class TokenTrie {
 public:
  static constexpr std::uint32_t none = FlatMap::none;

  /// Adds a token. A later one with the same text replaces it.
  void add(std::string_view token, std::uint32_t id);

  /// Node behind `byte`, or `none`.
  std::uint32_t next(std::uint32_t node, char byte) const {
    return children_.find((std::uint64_t{node} << 8U) | static_cast<unsigned char>(byte));
  }

  /// Node of a prefix, or `none`.
  std::uint32_t walk(std::uint32_t node, std::string_view bytes) const;

  /// Token that ends at a node, or `none`.
  std::uint32_t token(std::uint32_t node) const { return tokens_[node]; }

 private:
  FlatMap children_;
  std::vector<std::uint32_t> tokens_ = {none};
};

}  // namespace mezzo::detail
