#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mezzo::detail {

/// Tokens of a model and their ids, which may have gaps.
class TokenVocabulary {
 public:
  static constexpr std::uint32_t most_ids = std::uint32_t{1} << 22U;

  TokenVocabulary() = default;
  TokenVocabulary(const TokenVocabulary&) = delete;
  TokenVocabulary& operator=(const TokenVocabulary&) = delete;
  TokenVocabulary(TokenVocabulary&&) = default;
  TokenVocabulary& operator=(TokenVocabulary&&) = default;
  ~TokenVocabulary() = default;

  /// Adds a token. Throws a FileError that starts with `where` if the id is too large or has another token. A token
  /// that comes twice keeps the later id; the earlier id keeps its text.
  void add(const std::string& token, std::uint64_t id, const std::string& where);

  std::size_t size() const { return ids_.size(); }
  std::optional<std::uint32_t> find(std::string_view token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::string* text(std::uint64_t id) const { return id < texts_.size() ? texts_[id] : nullptr; }

  /// Calls use(token, id) for each token, in the order of the ids.
  template <class Use>
  void for_each(Use&& use) const {
    for (std::uint32_t id = 0; id < texts_.size(); ++id) {
      if (texts_[id] != nullptr) use(*texts_[id], id);
    }
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> texts_;  // by id; keys of ids_, whose nodes stay
};

}  // namespace mezzo::detail
