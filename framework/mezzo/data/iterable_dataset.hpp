#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch.hpp>

namespace mezzo {

namespace detail {
/// Makes the next sample: one tensor for each field, with its shape and dtype; nullopt after the last one.
using SampleGenerator = std::function<std::optional<std::vector<Tensor>>()>;

/// Part of the samples of an epoch, which one worker of a loader makes.
struct IterablePart {
  std::int64_t epoch = 0;
  int index = 0;  ///< in [0, count)
  int count = 1;  ///< workers of the loader; 1 for a loader without workers
};
}  // namespace detail

/// Options of IterableDataset.
struct IterableDatasetOptions {
  /// Names, shapes of one sample, dtypes and roles. Required. An axis of size -1 is open.
  std::vector<Field> fields{};
  /// Starts the samples of an epoch. Only one thread calls the generator that it returns. For loaders with at most 1
  /// worker.
  std::function<detail::SampleGenerator(std::int64_t epoch)> function{};
  /// In place of `function`: starts one part of the samples of an epoch, for any number of workers. Each sample should
  /// belong to one part.
  std::function<detail::SampleGenerator(const detail::IterablePart& part)> part_function{};
};

/// A data set that is read from the beginning, whose size isn't known: lines of a log, records from a network. As
/// torch's IterableDataset and Keras' generators. An epoch ends with the last sample:
///
///     IterableDataset lines({.fields = {{.name = "x", .shape = {10}}}, .function = [](std::int64_t) { return reader();
///     }}); DataLoader loader(lines, {.batch_size = 32});
class MEZZO_API IterableDataset {
 public:
  /// A ValueError if there are no fields, two names are equal, or not exactly one function is given.
  explicit IterableDataset(IterableDatasetOptions options);

  /// Names and roles of the arrays of a sample.
  const std::vector<Field>& fields() const { return options_.fields; }

  /// True if several workers can share the samples.
  bool has_parts() const { return options_.part_function != nullptr; }

  /// Starts the samples of a part.
  detail::SampleGenerator start(const detail::IterablePart& part) const;

 private:
  IterableDatasetOptions options_;
};

}  // namespace mezzo
