#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace mezzo::detail {

/// Parses the text of a file. Throws a FileError that starts with `where` if it is not JSON, or nested too deeply.
nlohmann::json parse_tokenizer_json(std::string_view text, const std::string& where);

/// Members of a JSON object of a tokenizer.json. Errors are FileErrors that start with `where` and name the member by
/// its path, `normalizer.normalizers[1].type`.
class JsonFields {
 public:
  /// Throws if `json` is not an object.
  JsonFields(const nlohmann::json& json, const std::string& where, std::string path);

  const std::string& where() const { return where_; }

  const nlohmann::json& all() const { return *json_; }

  /// Path of a member, `model.vocab`.
  std::string path(const std::string& name) const;

  /// True if the member is there and not null.
  bool has(const std::string& name);

  const nlohmann::json& member(const std::string& name);
  JsonFields object(const std::string& name);
  std::vector<JsonFields> objects(const std::string& name);
  std::string text(const std::string& name);
  std::string text(const std::string& name, const std::string& otherwise);
  bool flag(const std::string& name);
  bool flag(const std::string& name, bool otherwise);
  char32_t character(const std::string& name);
  std::int64_t count(const std::string& name, std::int64_t most = std::numeric_limits<std::uint32_t>::max());
  std::int64_t count(const std::string& name, std::int64_t most, std::int64_t otherwise);

  /// Index of a text in `names`; an error lists them.
  std::size_t choice(const std::string& name, const std::vector<std::string>& names);

  /// Throws for members that were not read.
  void done() const;

  /// Throws: `<path> must be <expected>; got <value>`.
  [[noreturn]] void refuse(const std::string& name, const std::string& expected) const;

 private:
  const nlohmann::json* json_;
  std::string where_, path_;
  std::set<std::string> known_;
};

}  // namespace mezzo::detail
