#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Argument of a step: the fields of a batch as Values. A Dataset names its fields. Batches made from arrays have `x`,
/// `y` except in predict(), and `sample_weight` only if it was passed to fit().
class MEZZO_API Batch {
 public:
  /// A field and its role.
  struct Entry {
    std::string name;         ///< name of the data set's field: "x"
    Value value;              ///< samples along axis 0
    Role role = Role::input;  ///< use of the field in training: input, target or weight
  };

  Batch() = default;

  /// `size`: number of samples, the size of axis 0 of each entry.
  Batch(std::vector<Entry> entries, std::int64_t size) : entries_(std::move(entries)), size_(size) {}

  /// Returns the value of a field. Throws a NameError with the names of the fields if there is no such field.
  const Value& operator[](const std::string& field) const;
  const Value& operator[](std::nullptr_t) const = delete;  // also a literal 0

  /// True if there is a field of that name.
  bool has(const std::string& field) const;
  bool has(std::nullptr_t) const = delete;

  /// Fields of a loader of a CombinedLoader, under the names that they have there: `batch.part("labeled")["x"]`. A
  /// NameError with the names of the fields if there are no such fields.
  Batch part(const std::string& loader) const;
  Batch part(std::nullptr_t) const = delete;  // also a literal 0

  /// True if that loader has fields in this batch: false in mode "max_size" after the end of that loader.
  bool has_part(const std::string& loader) const;
  bool has_part(std::nullptr_t) const = delete;

  /// Values of the fields of one role, in the order of entries().
  Values with_role(Role role) const;

  /// Number of samples.
  std::int64_t size() const { return size_; }

  const std::vector<Entry>& entries() const { return entries_; }  ///< in the order of the data set's fields

 private:
  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
};

}  // namespace mezzo
