#include <mezzo/data/batch.hpp>

#include <mezzo/core/error.hpp>

namespace mezzo {

const Tensor& HostBatch::operator[](const std::string& name) const {
  std::string good;
  for (const NamedTensor& field : fields) {
    if (field.name == name) return field.tensor;
    good += (good.empty() ? "" : ", ") + field.name;
  }
  throw NameError("no field \"" + name + "\" in the batch; there are: " + good);
}

}  // namespace mezzo
