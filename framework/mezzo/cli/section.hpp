#pragma once
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/training/loops/limits.hpp>

namespace mezzo::cli {

using Json = nlohmann::ordered_json;

/// Object of a configuration that is read member by member. After finish() it is complete: members that were absent
/// have the default.
class Section {
 public:
  /// `where`: path in errors, "trainer". A UsageError unless json is an object; null is an empty one.
  Section(Json& json, std::string where);

  /// Reads the member into `value` if it is there, else writes `value` into the complete object. A UsageError for a
  /// value of another type.
  template <class T>
  void operator()(const char* name, T& value) {
    if (const Json* given = take(name)) {
      read(*given, where_ + "." + name, value);
    } else {
      complete_[name] = write(value);
    }
  }

  /// The member as it is, for members with readers of their own; null if absent.
  Json& raw(const char* name);

  /// Replaces the object by the complete one. A UsageError with the nearest name for a member that was not read.
  void finish();

 private:
  const Json* take(const char* name);

  static void read(const Json& json, const std::string& what, bool& value);
  static void read(const Json& json, const std::string& what, int& value);
  static void read(const Json& json, const std::string& what, std::int64_t& value);
  static void read(const Json& json, const std::string& what, std::uint64_t& value);
  static void read(const Json& json, const std::string& what, double& value);
  static void read(const Json& json, const std::string& what, std::string& value);
  static void read(const Json& json, const std::string& what, std::vector<std::string>& value);
  static void read(const Json& json, const std::string& what, std::vector<std::int64_t>& value);
  static void read(const Json& json, const std::string& what, DType& value);
  static void read(const Json& json, const std::string& what, detail::BatchLimit& value);
  static void read(const Json& json, const std::string& what, detail::Duration& value);
  static void read(const Json& json, const std::string& what, detail::CheckInterval& value);
  static void read(const Json& json, const std::string& what, Precision& value);
  template <class T>
  static void read(const Json& json, const std::string& what, std::optional<T>& value) {
    if (json.is_null()) {
      value.reset();
      return;
    }
    T inner = blank<T>();
    read(json, what, inner);
    value = inner;
  }
  template <class T>
  static T blank() {
    if constexpr (std::is_same_v<T, detail::Duration>) {
      return T(1);  // has no default
    } else {
      return T{};
    }
  }

  template <class T>
  static Json write(const T& value) {
    return value;
  }
  static Json write(const DType& value) { return dtype_name(value); }
  static Json write(const detail::BatchLimit& value) { return Json::parse(value.text()); }
  static Json write(const detail::Duration& value) { return value.seconds(); }
  static Json write(const detail::CheckInterval& value);
  static Json write(const Precision& value);
  template <class T>
  static Json write(const std::optional<T>& value) {
    return value ? write(*value) : Json(nullptr);
  }

  Json& json_;
  std::string where_;
  Json complete_ = Json::object();
};

}  // namespace mezzo::cli
