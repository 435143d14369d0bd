#include <mezzo/cli/yaml.hpp>

#include <mezzo/cli/usage_error.hpp>

#if MEZZO_WITH_YAML
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <vector>
#endif

namespace mezzo::cli {

#if MEZZO_WITH_YAML

namespace {

constexpr std::string_view digits = "0123456789";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool has_only(std::string_view text, std::string_view letters) {
  return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

/// Removes letters from the start of a text, and returns their number.
std::size_t take(std::string_view& text, std::string_view letters) {
  const std::size_t count = std::min(text.find_first_not_of(letters), text.size());
  text.remove_prefix(count);
  return count;
}

/// True for a decimal number: digits with a point or an exponent.
bool is_float(std::string_view text) {
  std::size_t count = take(text, digits);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    count += take(text, digits);
  }
  if (count == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return has_only(text, digits);
}

/// Values of one document.
class YamlReader {
 public:
  YamlReader(const std::string& where, MemberLines& lines) : where_(where), lines_(lines) {}

  Json read(const YAML::Node& node, const std::string& path, int depth) {
    constexpr int most_depth = 100, most_values = 100'000;
    if (depth > most_depth) refuse(node, "must have at most {} levels; an anchor may contain itself", most_depth);
    if (++values_ > most_values) refuse(node, "must have at most {} values, with those of its anchors", most_values);
    const std::string& tag = node.Tag();
    const bool plain = tag.empty() || tag == "?";
    if (node.IsSequence() || node.IsMap()) {
      if (!plain && tag != "!") refuse(node, "must have no tags except for !!str; got {}", tag);
      return node.IsMap() ? map(node, path, depth) : sequence(node, path, depth);
    }
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return node.IsNull() ? std::string() : node.Scalar();
    if (!plain) refuse(node, "must have no tags except for !!str; got {}", tag);
    return node.IsNull() ? Json(nullptr) : word(node);
  }

 private:
  template <class... Arguments>
  [[noreturn]] void refuse(const YAML::Node& node, fmt::format_string<Arguments...> text,
                           Arguments&&... arguments) const {
    fail_usage("{} line {}: {}", where_, node.Mark().line + 1,
               fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  Json sequence(const YAML::Node& node, const std::string& path, int depth) {
    Json out = Json::array();
    for (const YAML::Node& item : node) {
      const std::string inner = fmt::format("{}.{}", path, out.size());
      lines_[inner] = item.Mark().line + 1;
      out.push_back(read(item, inner, depth + 1));
    }
    return out;
  }

  Json map(const YAML::Node& node, const std::string& path, int depth) {
    Json out = Json::object(), merged = Json::object();
    for (const auto& entry : node) {
      const YAML::Node &key = entry.first, &value = entry.second;
      if (!key.IsScalar()) refuse(node, "keys must be texts");
      const std::string& name = key.Scalar();
      if (name == "<<" && key.Tag() == "?") {
        merge(value, path, depth, merged);
        continue;
      }
      if (out.contains(name)) refuse(key, "keys must differ; got \"{}\" twice", name);
      const std::string inner = path.empty() ? name : path + "." + name;
      lines_[inner] = key.Mark().line + 1;
      out[name] = read(value, inner, depth + 1);
    }
    for (const auto& item : merged.items()) {
      if (!out.contains(item.key())) out[item.key()] = item.value();
    }
    return out;
  }

  /// Adds the members of the value of a merge key, of which the first ones of a name count.
  void merge(const YAML::Node& value, const std::string& path, int depth, Json& merged) {
    if (value.IsSequence()) {
      for (const YAML::Node& one : value) merge_map(one, path, depth, merged);
    } else {
      merge_map(value, path, depth, merged);
    }
  }

  void merge_map(const YAML::Node& value, const std::string& path, int depth, Json& merged) {
    if (!value.IsMap()) refuse(value, "<< must be an anchor of a map, or a list of such");
    MemberLines lines;
    YamlReader reader(where_, lines);
    reader.values_ = values_;
    const Json members = reader.read(value, path, depth + 1);
    values_ = reader.values_;
    lines_.insert(lines.begin(), lines.end());
    for (const auto& item : members.items()) {
      if (!merged.contains(item.key())) merged[item.key()] = item.value();
    }
  }

  /// A word without quotes.
  Json word(const YAML::Node& node) const {
    const std::string& text = node.Scalar();
    if (is_one_of(text, {"true", "True", "TRUE"})) return true;
    if (is_one_of(text, {"false", "False", "FALSE"})) return false;
    std::string_view rest = text;
    const bool negative = !rest.empty() && rest.front() == '-';
    if (!rest.empty() && (negative || rest.front() == '+')) rest.remove_prefix(1);
    if (is_one_of(rest, {".inf", ".Inf", ".INF"}) || is_one_of(text, {".nan", ".NaN", ".NAN"})) {
      refuse(node, "numbers must be finite; got {}", text);
    }
    if (rest.size() == text.size()) {
      if (rest.starts_with("0x")) return based(node, rest.substr(2), 16);
      if (rest.starts_with("0o")) return based(node, rest.substr(2), 8);
    }
    if (has_only(rest, digits)) {
      if (rest.size() > 1 && rest.front() == '0') {
        refuse(node, "a number must not begin with 0, which may mean octal; got {}; quote it if it is a text", text);
      }
      try {
        return Json::parse((negative ? "-" : "") + std::string(rest));
      } catch (const Json::out_of_range&) {
        refuse(node, "numbers must fit float64; got {}", text);
      }
    }
    return is_float(rest) ? decimal(node, rest, negative) : Json(text);
  }

  /// The number after 0x or 0o; a text if it has other letters.
  Json based(const YAML::Node& node, std::string_view text, int base) const {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (text.empty() || end != text.data() + text.size()) return node.Scalar();
    if (error != std::errc()) refuse(node, "numbers must have at most 64 bits; got {}", node.Scalar());
    return number;
  }

  Json decimal(const YAML::Node& node, std::string_view text, bool negative) const {
    double number = 0;
    const std::string with_digit = "0" + std::string(text);  // of .5
    const auto [end, error] = std::from_chars(with_digit.data(), with_digit.data() + with_digit.size(), number);
    if (error == std::errc::result_out_of_range) refuse(node, "numbers must fit float64; got {}", node.Scalar());
    return negative ? -number : number;
  }

  const std::string& where_;
  MemberLines& lines_;
  int values_ = 0;
};

}  // namespace

Json parse_yaml(const std::string& text, const std::string& where, MemberLines& lines) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) fail_usage("{} must be YAML; the file is empty", where);
    if (documents.size() > 1) {
      fail_usage("{} line {}: must be one document; got {}", where, documents[1].Mark().line + 1, documents.size());
    }
    return YamlReader(where, lines).read(documents.front(), "", 0);
  } catch (const YAML::Exception& error) {
    fail_usage("{} line {}, column {}: must be YAML; {}", where, error.mark.line + 1, error.mark.column + 1, error.msg);
  }
}

#else

Json parse_yaml(const std::string&, const std::string& where, MemberLines&) {
  fail_usage("{} is YAML, which this build of mezzo lacks: it was built without yaml-cpp. Write JSON", where);
}

#endif

}  // namespace mezzo::cli
