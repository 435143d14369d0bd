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

/// Argument of a step: the fields of a batch as Values. Batches made from arrays have the fields `x`, `y` and
/// `sample_weight`; a Dataset names its own.
class MEZZO_API Batch {
 public:
  /// A field and its role.
  struct Entry {
    std::string name;
    Value value;
    Role role = Role::input;
  };

  Batch() = default;
  Batch(std::vector<Entry> entries, std::int64_t size) : entries_(std::move(entries)), size_(size) {}

  /// Field of that name. A NameError that lists the fields if there is none.
  const Value& operator[](const std::string& field) const;
  const Value& operator[](std::nullptr_t) const = delete;  // also a literal 0

  /// True if there is a field of that name.
  bool has(const std::string& field) const;
  bool has(std::nullptr_t) const = delete;

  /// Fields of one role, in the order of the data set.
  Values with_role(Role role) const;

  /// Number of samples.
  std::int64_t size() const { return size_; }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
};

}  // namespace mezzo
