#include <mezzo/nn/positional.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void fail_given_twice(const char* kind, const std::string& name, const char* option) {
  const std::string where = name.empty() ? fmt::format("[{}]", kind) : fmt::format("[{} \"{}\"]", kind, name);
  fail<ValueError>(where, "{0} is given twice: once without a name and once as .{0}", option);
}

}  // namespace mezzo::detail
