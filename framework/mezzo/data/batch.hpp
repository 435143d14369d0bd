#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// What a field of a data set is for.
enum class Role { input, target, weight };

/// One field of a data set: `shape` is that of one sample, without the batch axis.
struct Field {
  std::string name{};
  Shape shape{};
  DType dtype = DType::float32;
  Role role = Role::input;
};

/// A field's values for several samples, which lie along axis 0.
struct NamedTensor {
  std::string name{};
  Tensor tensor{};
  Role role = Role::input;
};

/// A batch in host memory: every field's values for the same `size` samples.
struct HostBatch {
  std::vector<NamedTensor> fields{};
  std::int64_t size = 0;

  /// The values of a field; a NameError that lists the good names otherwise.
  const Tensor& operator[](const std::string& name) const;
};

}  // namespace mezzo
