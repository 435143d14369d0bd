#pragma once
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/ops/host.hpp>

namespace mezzo {

/// Logged numbers by name, in the order of logging: result of evaluate, validate, test and train_on_batch.
class MEZZO_API Logs {
 public:
  using Entry = std::pair<std::string, double>;  ///< name and number

  Logs() = default;

  /// A NameError if two names are equal.
  Logs(std::initializer_list<Entry> entries) : Logs(std::vector<Entry>(entries)) {}
  /// A NameError if two names are equal.
  explicit Logs(std::vector<Entry> entries);
  template <class Iterator>
  Logs(Iterator begin, Iterator end) : Logs(std::vector<Entry>(begin, end)) {}

  /// The number of that name. A NameError that lists the names if there is none.
  double operator[](const std::string& name) const { return at(name); }
  double at(const std::string& name) const;
  // Also a literal 0: the numbers have names, not indices.
  double operator[](std::nullptr_t) const = delete;
  double at(std::nullptr_t) const = delete;

  /// Replaces the number of that name, or adds it at the end.
  void set(const std::string& name, double number);

  bool contains(const std::string& name) const;  ///< true: a number has this name

  /// 1 if a number has this name, else 0.
  std::size_t count(const std::string& name) const { return contains(name) ? 1 : 0; }
  std::size_t size() const { return entries_.size(); }  ///< number of entries
  bool empty() const { return entries_.empty(); }       ///< true: no entries
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }

  /// Sorted by name, not in the order of logging.
  operator std::map<std::string, double>() const { return {entries_.begin(), entries_.end()}; }

 private:
  std::vector<Entry> entries_;
};

/// True if both have the same names with the same numbers, in any order.
MEZZO_API bool operator==(const Logs& a, const Logs& b);
inline bool operator!=(const Logs& a, const Logs& b) { return !(a == b); }

/// Prints one line: "loss=0.25 accuracy=0.9".
MEZZO_API std::ostream& operator<<(std::ostream& out, const Logs& logs);

namespace detail {
MEZZO_API void print_logs(const Logs& logs, const PrintOptions& options);
}

/// Writes that line to std::cout, as `message loss=0.25 accuracy=0.9`: `print(model.evaluate(x, y))`.
template <class L, std::enable_if_t<std::is_base_of_v<Logs, L>, int> = 0>
void print(const L& logs, const PrintOptions& options = {}) {
  detail::print_logs(logs, options);
}

}  // namespace mezzo
