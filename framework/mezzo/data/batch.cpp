#include <mezzo/data/batch.hpp>

#include <string_view>

#include <mezzo/core/fail.hpp>

namespace mezzo {

const Tensor& HostBatch::operator[](const std::string& name) const {
  std::vector<std::string_view> valid;
  for (const detail::NamedTensor& field : fields) {
    if (field.name == name) return field.tensor;
    valid.emplace_back(field.name);
  }
  fail_unknown("[HostBatch]", "field", name, valid);
}

}  // namespace mezzo
