#include <mezzo/core/fail.hpp>
#include <mezzo/core/name_table.hpp>

namespace mezzo::detail {

std::string join_names(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

void fail_unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& valid) {
  fail_unknown("", kind, name, valid);
}

}  // namespace mezzo::detail
