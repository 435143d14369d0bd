#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/data/batch.hpp>

namespace mezzo {

/// Base of all data sets. Immutable: several threads read from it at once.
class DatasetSource {
 public:
  virtual ~DatasetSource() = default;

  /// Number of samples.
  virtual std::int64_t size() const = 0;

  virtual const std::vector<Field>& fields() const = 0;

  /// Writes sample `index`, which lies in [0, size()): the row-major elements of field i to `out[i]`, which has room
  /// for exactly them. What it throws reaches the user with the sample's index in front.
  virtual void read(std::int64_t index, void* const* out) const = 0;

  /// What loaders call: read() in their epoch `epoch`, for samples that change from epoch to epoch. Without an override
  /// they don't. Dataset::gather() reads as in epoch 0.
  virtual void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
    static_cast<void>(epoch);
    read(index, out);
  }
};

struct FunctionDatasetOptions {
  /// Number of samples.
  std::int64_t size = 0;
  /// Names, shapes of one sample, dtypes and roles.
  std::vector<Field> fields{};
  /// Makes sample `index`: one tensor a field, in the order of `fields`, of just their shapes and dtypes. Called from
  /// several threads at once.
  std::function<std::vector<Tensor>(std::int64_t index)> function{};
  /// In place of `function`, for samples that are drawn anew in each epoch of a loader. What it draws should depend on
  /// its arguments alone, as <mezzo/data/image/random.hpp> does, so that an epoch is the same for any number of
  /// workers.
  std::function<std::vector<Tensor>(std::int64_t index, std::int64_t epoch)> epoch_function{};
};

/// The one handle for data sets: samples of the same named fields, read by index. A copy shares the samples.
class Dataset {
 public:
  /// No samples, no fields.
  Dataset() = default;

  /// From a source of the user's own.
  template <class D, class = std::enable_if_t<std::is_base_of_v<DatasetSource, D>>>
  Dataset(D source) : source_(std::make_shared<const D>(std::move(source))) {}

  /// From arrays whose axis 0 counts the samples: `Dataset::from_tensors({{"image", x}, {"label", y, Role::target}})`.
  /// The arrays that model.fit takes are fields `x`, `y` and `sample_weight`. Shares the tensors' bytes. A ShapeError
  /// if the first axes differ or one is missing, a ValueError if two names are the same.
  static Dataset from_tensors(std::vector<NamedTensor> fields);

  /// Samples made on demand by a function: decoded from files, drawn at random. A ValueError if size is negative, not
  /// just one function is given or two names are the same.
  static Dataset from_function(FunctionDatasetOptions options);

  /// Number of samples.
  std::int64_t size() const { return source_ ? source_->size() : 0; }

  const std::vector<Field>& fields() const;

  /// The first `count` samples, or all where there are fewer.
  Dataset take(std::int64_t count) const;

  /// The samples of these indices, in their order; an index may come twice. A ValueError if one is out of range.
  Dataset subset(std::vector<std::int64_t> indices) const;

  /// The first floor(size * fraction) samples, and the rest. A ValueError if `fraction` lies outside [0, 1]. Keras'
  /// `validation_split = v` is `split(1 - v)`.
  std::pair<Dataset, Dataset> split(double fraction) const;

  /// The samples of these indices as one batch. A ValueError if one is out of range.
  HostBatch gather(const std::vector<std::int64_t>& indices) const;

 private:
  friend class DataLoader;
  Dataset range(std::int64_t begin, std::int64_t end) const;

  std::shared_ptr<const DatasetSource> source_;
};

}  // namespace mezzo
