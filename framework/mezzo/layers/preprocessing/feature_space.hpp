#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>
#include <mezzo/data/tables/csv_reader.hpp>
#include <mezzo/data/tables/table.hpp>
#include <mezzo/layers/preprocessing/adapted.hpp>
#include <mezzo/layers/preprocessing/feature_list.hpp>
#include <mezzo/layers/preprocessing/feature_space_options.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
class FeatureLayout;
}

/// Encodes the columns of tables as numbers, as keras.utils.FeatureSpace: floats are normalized, rescaled or divided
/// into bins; integers and strings become indices of a vocabulary or of a hash; crosses are combinations of features.
/// Indices are one-hot encoded unless their output_mode is "int". Numbers, vocabularies and hashes are Keras'.
///
///     FeatureSpace space({{"age", "float_normalized"}, {"city", "string_categorical"}}, {.fillna = {{"age", 40}}});
///     space.adapt(table);
///     Sequential model({space, Dense(16, {.activation = "relu"}), Dense(1)});
///     model.fit(space.dataset(table, {.targets = {"price"}}), {.epochs = 10});
///     Tensor prices = model.predict(space(new_rows));
///
/// A layer that checks and returns the encoded features, since steps compute with numbers alone. It is saved with its
/// model, and load() takes it from there. Copies share what adapt() has found, except those of clone(). Calls are
/// thread safe.
///
/// A missing value is a ValueError that names row, line and column, unless `fillna` has a value for the column.
class MEZZO_API FeatureSpace : public Layer {
 public:
  /// Throws a ValueError for options out of their range or that contradict each other, a NameError for unknown names.
  explicit FeatureSpace(FeatureSpaceOptions options);

  /// Positional: `FeatureSpace({{"age", "float"}, {"city", "string_hashed"}})`.
  template <class F = detail::FeatureList, detail::IfSame<F, detail::FeatureList> = 0>
  explicit FeatureSpace(F features, FeatureSpaceOptions options = {})
      : FeatureSpace(detail::positional("FeatureSpace", options.name, "features", &FeatureSpaceOptions::features,
                                        std::move(features), options)) {}

  /// (x - mean) / max(sqrt(variance), 1e-7), with mean and variance of adapt(): the type "float_normalized".
  static detail::Feature float_normalized();

  /// x * scale + offset: the type "float_rescaled".
  static detail::Feature float_rescaled(double scale = 1, double offset = 0);

  /// Index of the bin of a number: the type "float_discretized". adapt() sets the boundaries of num_bins bins to
  /// quantiles. `float_discretized(8)`, `float_discretized({.bin_boundaries = {0, 1, 10}})`.
  static detail::Feature float_discretized(const detail::DiscretizedFeatureOptions& options);
  template <class I, detail::IfInteger<I> = 0>
  static detail::Feature float_discretized(I num_bins, detail::DiscretizedFeatureOptions options = {}) {
    options.num_bins = static_cast<std::int64_t>(num_bins);
    return float_discretized(options);
  }

  /// Index in a vocabulary of integers, set by adapt(): the type "integer_categorical". The most frequent ones come
  /// first. An unknown one has an index by its remainder.
  static detail::Feature integer_categorical(const detail::CategoricalFeatureOptions& options = {});

  /// The same for strings: the type "string_categorical". An unknown one has an index by its hash.
  static detail::Feature string_categorical(const detail::CategoricalFeatureOptions& options = {});

  /// Bin of the hash of an integer, as text, or of a string: the types "integer_hashed" and "string_hashed".
  /// `string_hashed(64)`.
  static detail::Feature integer_hashed(const detail::HashedFeatureOptions& options);
  static detail::Feature string_hashed(const detail::HashedFeatureOptions& options);
  template <class I, detail::IfInteger<I> = 0>
  static detail::Feature integer_hashed(I num_bins, detail::HashedFeatureOptions options = {}) {
    options.num_bins = static_cast<std::int64_t>(num_bins);
    return integer_hashed(options);
  }
  template <class I, detail::IfInteger<I> = 0>
  static detail::Feature string_hashed(I num_bins, detail::HashedFeatureOptions options = {}) {
    options.num_bins = static_cast<std::int64_t>(num_bins);
    return string_hashed(options);
  }

  /// Bin of the combination of two or more features, by the hash of their indices: `cross({"city", "job"}, 64)`.
  static detail::FeatureCross cross(std::vector<std::string> feature_names, std::int64_t crossing_dim,
                                    const detail::FeatureCrossOptions& options = {});

  /// Sets means, boundaries and vocabularies to those of the rows. Missing values are those of `fillna`. Throws a
  /// NameError for a column that the table lacks, a DTypeError for one of another type, a ValueError for a missing
  /// value and for a table without rows. A ValueError too if a feature would get another number of columns after a
  /// model was built with the layer.
  void adapt(const Table& table);

  /// The same for all chunks of a file, from the first one, in the memory of one chunk and of the vocabularies. The
  /// position of the reader stays.
  void adapt(const CsvReader& chunks);

  /// Encoded features of all rows, float32 (rows, width()): features in the order of their names, then crosses in the
  /// order of theirs. Throws the errors of adapt(), and a ValueError before it or for output_mode "dict".
  Tensor operator()(const Table& table) const;
  using Layer::operator();

  /// Encoded features by name, for both output modes: float32 (rows, columns); indices are int64 (rows, 1).
  std::map<std::string, Tensor> encode(const Table& table) const;

  /// The rows of a table as samples. The threads of a loader encode them. Fields: `features`, float32 (width(),), or
  /// for output_mode "dict" one for each name of encode(); then targets and weights as those of table_dataset(), with
  /// its errors. Throws the errors of a call.
  Dataset dataset(const Table& table, const FeatureDatasetOptions& options = {}) const;

  /// Number of columns of the encoded features. Throws a ValueError before adapt().
  std::int64_t width() const;

  /// Tokens of a categorical feature by index, with those of unknown values in front; integers as text. Throws a
  /// NameError for another feature, a ValueError before adapt().
  std::vector<std::string> get_vocabulary(const std::string& feature) const;

  /// Writes the FeatureSpace to a file of its own, which load() reads. The file is replaced as a whole. Throws a
  /// FileError for a suffix of another format (".keras") or if it can't be written.
  void save(const std::string& path) const;

  /// Reads a FeatureSpace from a file of save(), or from a model of Model::save() that has it as a layer: the one of
  /// that name, also an automatic one ("feature_space"), or of that path in the model ("encoder/feature_space"). Throws
  /// a FileError if the file is missing, damaged, or has none, and if there are several without the name or with it.
  static FeatureSpace load(const std::string& path, const std::string& name = "");

  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }

 protected:
  /// Checks and returns encoded features: one input, or for output_mode "dict" one for each name, in their order.
  Values call_many(const Values& xs) override;

 private:
  struct Content {
    FeatureSpaceOptions options{};
    std::shared_ptr<const detail::FeatureLayout> layout{};  // null before adapt()
  };
  void adapt_to(const std::function<void(const std::function<void(const Table&)>&)>& for_each_table);
  void set_options(FeatureSpaceOptions options);
  const detail::FeatureLayout& layout() const;

  detail::Adapted<Content> content_;
};

}  // namespace mezzo
