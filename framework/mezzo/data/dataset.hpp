#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/data/dataset_source.hpp>

namespace mezzo {

class Dataset;

namespace detail {
/// Meaning of the numbers of a target for class_weight, if a sample has several: labels, or scores of classes.
/// `either`: chosen in the step, by the shape of the predictions.
enum class ClassTargets { labels, scores, either };

/// Adds a field "sample_weight": weights[class of the sample's target], or 1 for classes without one. The class is the
/// target, rounded, or the position of its largest element. Several labels have a weight each, in the target's shape.
/// For targets of kind `either`, the weight by the largest element is another field, `class_weight_of_scores`. A
/// ValueError unless the data set has one target and no sample weights, and if scores have another shape than
/// (classes,). Errors begin with `where`.
MEZZO_API Dataset with_class_weights(const Dataset& data, const std::map<std::int64_t, double>& weights,
                                     ClassTargets targets, const std::string& where);
inline constexpr const char* class_weight_of_scores = "class_weight_of_scores";
}  // namespace detail

/// A data set: samples with the same named fields, read by index. Copies share the samples.
class MEZZO_API Dataset {
 public:
  /// A data set without samples and fields.
  Dataset() = default;

  /// Wraps a user-defined source.
  template <class D, class = std::enable_if_t<std::is_base_of_v<DatasetSource, D>>>
  Dataset(D source) : source_(std::make_shared<const D>(std::move(source))) {}

  /// Makes a data set from tensors with the samples along axis 0:
  /// `Dataset::from_tensors({{"image", x}, {"label", y, Role::target}})`. The fields for model.fit are `x`, `y` and
  /// `sample_weight`. Shares the tensors' bytes. Throws a ShapeError if the sizes of axis 0 differ or a tensor has no
  /// axis, a ValueError if two names are equal.
  static Dataset from_tensors(std::vector<detail::NamedTensor> fields);

  /// Makes a data set from a function that makes samples on demand: decodes files, draws random numbers. Throws a
  /// ValueError if size is negative, not exactly one function is given or two names are equal.
  static Dataset from_function(FunctionDatasetOptions options);

  /// Makes a data set from samples of different shapes: `Dataset::from_samples({{"tokens", texts}, {"label", labels,
  /// Role::target}})`. A ShapeError if the numbers of samples or the ranks of a field differ, a DTypeError if the
  /// dtypes of a field do, a ValueError if there are no samples or two names are equal.
  static Dataset from_samples(std::vector<detail::NamedSamples> fields);

  /// The samples of all data sets, one after the other, as torch's ConcatDataset; also `a + b`. Nothing is copied. A
  /// ValueError if there is no data set or their fields differ in name, dtype, shape or role.
  static Dataset concat(const std::vector<Dataset>& datasets);

  friend Dataset operator+(const Dataset& a, const Dataset& b) { return concat({a, b}); }

  /// Number of samples.
  std::int64_t size() const { return source_ ? source_->size() : 0; }

  /// Fields of every sample.
  const std::vector<Field>& fields() const;

  /// The first `count` samples, or all if there are fewer. Throws a ValueError if `count` is negative.
  Dataset take(std::int64_t count) const;

  /// The samples [begin, end), without storing their indices. A ValueError unless 0 <= begin <= end <= size().
  Dataset range(std::int64_t begin, std::int64_t end) const;

  /// The samples of these indices, in their order. An index may occur several times. Throws a ValueError if one is out
  /// of range.
  Dataset subset(std::vector<std::int64_t> indices) const;

  /// Splits into the first floor(size * fraction) samples and the rest. `split(1 - v)` is Keras' `validation_split =
  /// v`. Indices aren't stored. Throws a ValueError if `fraction` is not in [0, 1].
  std::pair<Dataset, Dataset> split(double fraction) const;

  /// Splits at random, as torch's random_split: part i has floor(size * fractions[i]) samples; the remaining samples go
  /// to the first parts, one each. Indices are computed, not stored. The fractions must be 0 or more with sum 1: a
  /// ValueError otherwise. Default of `seed`: that of seed_everything().
  std::vector<Dataset> random_split(const std::vector<double>& fractions,
                                    std::optional<std::uint64_t> seed = std::nullopt) const;

  /// Replaces the values of a field by function(value): `data.map("image", [](const Tensor& image) { return ...; })`.
  /// Loaders call the function in their threads, several at the same time. The results must all have the shape and the
  /// dtype of the result for sample 0, which is computed at once. For a field with an open axis, all axes of the
  /// results are open. A NameError for an unknown field, a ValueError for a data set without samples.
  Dataset map(const std::string& field, std::function<Tensor(const Tensor& value)> function) const;

  /// The same with the index of the sample in this data set and the epoch, for random changes.
  Dataset map(const std::string& field,
              std::function<Tensor(const Tensor& value, std::int64_t index, std::int64_t epoch)> function) const;

  /// Reads the samples of these indices as one batch. Open axes are padded with 0 to the longest sample. Throws a
  /// ValueError if one is out of range.
  HostBatch gather(const std::vector<std::int64_t>& indices) const;

 private:
  friend class DataLoader;
  friend Dataset detail::with_class_weights(const Dataset& data, const std::map<std::int64_t, double>& weights,
                                            detail::ClassTargets targets, const std::string& where);

  std::shared_ptr<const DatasetSource> source_;
};

}  // namespace mezzo
