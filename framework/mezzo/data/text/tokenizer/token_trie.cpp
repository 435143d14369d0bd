#include <mezzo/data/text/tokenizer/token_trie.hpp>

namespace mezzo::detail {

void TokenTrie::add(std::string_view token, std::uint32_t id) {
  std::uint32_t node = 0;
  for (const char byte : token) {
    std::uint32_t child = next(node, byte);
    if (child == none) {
      child = static_cast<std::uint32_t>(tokens_.size());
      children_.set((std::uint64_t{node} << 8U) | static_cast<unsigned char>(byte), child);
      tokens_.push_back(none);
    }
    node = child;
  }
  tokens_[node] = id;
}

std::uint32_t TokenTrie::walk(std::uint32_t node, std::string_view bytes) const {
  for (const char byte : bytes) {
    if (node == none) return none;
    node = next(node, byte);
  }
  return node;
}

}  // namespace mezzo::detail
