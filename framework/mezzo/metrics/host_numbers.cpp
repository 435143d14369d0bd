#include <mezzo/metrics/host_numbers.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

std::vector<double> host_numbers(const std::string& name, const Variable& variable, std::size_t size) {
  if (Trace::current() != nullptr) {
    fail<ValueError>("", "[{}] result() must be called outside of a step; got a call inside: use log()", name);
  }
  return variable.filled() ? variable.value().to_doubles() : std::vector<double>(size);
}

}  // namespace mezzo::detail
