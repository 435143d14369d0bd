#pragma once
#include <set>
#include <string>

namespace mezzo::detail {

/// Notices that appear once for a model.
class Notices {
 public:
  /// Notes a notice, by key or text. True for the first call with it.
  bool first(const std::string& notice) { return noted_.insert(notice).second; }

  /// True if first() was called with the notice.
  bool has(const std::string& notice) const { return noted_.count(notice) != 0; }

 private:
  std::set<std::string> noted_;
};

}  // namespace mezzo::detail
