#include <mezzo/backends/common/labels.hpp>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo {

std::int64_t label_at(const void* labels, DType dtype, std::int64_t i) {
  return visit_dtype(dtype,
                     [&](auto zero) { return convert<std::int64_t>(static_cast<const decltype(zero)*>(labels)[i]); });
}

void check_labels(const void* labels, DType dtype, std::int64_t count, std::int64_t classes, const std::string& what) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = label_at(labels, dtype, i);
    if (label >= 0 && label < classes) continue;
    fail<ValueError>(what, "must be in [0, {}); got {} at index {}", classes, label, i);
  }
}

}  // namespace mezzo
