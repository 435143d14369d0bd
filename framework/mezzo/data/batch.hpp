#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Purpose of a field of a data set: input of the model, target of the loss, or weight of the sample.
enum class Role { input, target, weight };

/// One field of a data set.
struct Field {
  std::string name{};            ///< unique in the data set
  Shape shape{};                 ///< shape of one sample, without the batch axis; -1: an open axis, of another size in
                                 ///< each
  DType dtype = DType::float32;  ///< dtype of the elements
  Role role = Role::input;       ///< purpose of the field
};

namespace detail {
/// The values of a field for several samples.
struct NamedTensor {
  std::string name{};       ///< name of the field
  Tensor tensor{};          ///< samples along axis 0; for a DatasetSample its value
  Role role = Role::input;  ///< purpose of the field
};

/// The fields of one sample, without a batch axis.
using DatasetSample = std::vector<NamedTensor>;

/// Place of a batch in the batch that several ranks share.
struct BatchPart {
  std::int64_t first = 0;  ///< number of the samples before its own
  std::int64_t size = 0;   ///< number of its own samples; 0: the batch has a sample of another rank, which must not
                           ///< count
  std::int64_t whole = 0;  ///< samples of all ranks
};
}  // namespace detail

/// A batch in host memory.
struct MEZZO_API HostBatch {
  std::vector<detail::NamedTensor> fields{};  ///< values of all fields, for the same samples
  std::int64_t size = 0;                      ///< number of samples
  std::int64_t skipped = 0;                   ///< samples that `on_error = "skip"` of a DataLoader has left out
  std::optional<detail::BatchPart> part{};    ///< set for a loader that is divided among ranks

  /// Samples of the batch, those of all ranks included.
  std::int64_t whole_size() const { return part ? part->whole : size; }

  /// The values of a field. Throws a NameError with the valid names if there is no such field.
  const Tensor& operator[](const std::string& name) const;
  const Tensor& operator[](std::nullptr_t) const = delete;  // also a literal 0
};

}  // namespace mezzo
