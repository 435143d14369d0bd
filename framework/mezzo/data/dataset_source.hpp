#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch.hpp>

namespace mezzo {

/// Base of all data sets. Implementations must be immutable, because several threads read at the same time.
class MEZZO_API DatasetSource {
 public:
  virtual ~DatasetSource() = default;

  /// Number of samples.
  virtual std::int64_t size() const = 0;

  /// Fields of every sample.
  virtual const std::vector<Field>& fields() const = 0;

  /// Reads sample `index` in [0, size()). Writes the row-major elements of field i to `out[i]`, which has exactly their
  /// size. Exceptions reach the user with the sample's index before their text. Required, unless sample() is
  /// overridden.
  virtual void read(std::int64_t index, void* const* out) const;

  /// Reads sample `index` in epoch `epoch`. Loaders call this function; Dataset::gather() calls it with epoch 0.
  /// Override it for samples that change from epoch to epoch; the default calls read().
  virtual void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
    static_cast<void>(epoch);
    read(index, out);
  }

  /// Sample `index` in epoch `epoch` as tensors, one for each field. Override it in place of read() if a field has an
  /// open axis (Field::shape); it is not called otherwise.
  virtual std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const;

  /// Size of the longest open axis of a sample, for group_by_length of a DataLoader; -1 if only reading the sample
  /// could tell.
  virtual std::int64_t length(std::int64_t index) const {
    static_cast<void>(index);
    return -1;
  }
};

namespace detail {
/// A field of samples of different shapes.
struct NamedSamples {
  std::string name{};             ///< unique in the data set
  std::vector<Tensor> samples{};  ///< equal in dtype and rank; axes that differ in size are open
  Role role = Role::input;        ///< purpose of the field
};
}  // namespace detail

struct FunctionDatasetOptions {
  /// Number of samples.
  std::int64_t size = 0;
  /// Names, shapes of one sample, dtypes and roles. Required. An axis of size -1 is open.
  std::vector<Field> fields{};
  /// Makes sample `index`: one tensor per field, in the order of `fields`, with their shapes and dtypes. Several
  /// threads call it at the same time. Required, unless epoch_function is given.
  std::function<std::vector<Tensor>(std::int64_t index)> function{};
  /// Replaces `function` for samples that are drawn anew in each epoch. Its result should depend on its arguments
  /// alone, as with <mezzo/data/image/random.hpp>: then an epoch is the same for any number of workers.
  std::function<std::vector<Tensor>(std::int64_t index, std::int64_t epoch)> epoch_function{};
  /// Size of the longest open axis of sample `index`, for group_by_length of a DataLoader.
  std::function<std::int64_t(std::int64_t index)> length{};
};

}  // namespace mezzo
