#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/data/batch.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// What a step gets: the fields of a batch as Values. From arrays they are `x`, `y` and `sample_weight`; data sets
/// name their own.
class Batch {
 public:
  struct Entry {
    std::string name;
    Value value;
    Role role = Role::input;
  };

  Batch() = default;
  Batch(std::vector<Entry> entries, std::int64_t size) : entries_(std::move(entries)), size_(size) {}

  /// A field; a NameError that lists the fields there are if there is none of that name.
  const Value& operator[](const std::string& field) const;

  bool has(const std::string& field) const;

  /// The fields of a role, in the data set's order.
  Values with_role(Role role) const;

  /// Number of samples.
  std::int64_t size() const { return size_; }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
};

}  // namespace mezzo
