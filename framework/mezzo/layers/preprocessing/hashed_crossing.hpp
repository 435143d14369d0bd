#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/strings.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct HashedCrossingOptions {
  std::int64_t num_bins = 0;        ///< required; number of bins
  std::string output_mode = "int";  ///< "int" (int64) or "one_hot" (compute dtype)
  std::string name{};               ///< name of the layer; "": automatic ("hashed_crossing", ...)
  Policy dtype{};                   ///< precision policy; default: the policy of the enclosing layer or model
};

/// Bins of combinations of two or more features by their hash, the bins of Keras: `HashedCrossing(10)({a, b})`. The
/// inputs have one shape: (), (batch) or (batch, 1). No gradient passes it.
class MEZZO_API HashedCrossing : public Layer {
 public:
  /// Integers or strings of one feature.
  using Column = std::variant<Tensor, Strings>;

  /// A ValueError for num_bins below 1, a NameError for an unknown output_mode.
  explicit HashedCrossing(HashedCrossingOptions options = {});

  /// Positional: `HashedCrossing(10)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit HashedCrossing(I num_bins, HashedCrossingOptions options = {})
      : HashedCrossing(detail::positional("HashedCrossing", options.name, "num_bins", &HashedCrossingOptions::num_bins,
                                          static_cast<std::int64_t>(num_bins), options)) {}

  /// Two or more features of equal shapes to the bin of their combination: `crossing({a, b})`.
  Value operator()(const Values& xs, const CallOptions& options = {}) { return Layer::operator()(xs, options).front(); }

  /// Bins of features of a data set, some of them strings. Thread safe. "one_hot" is float32. A ValueError for less
  /// than two columns, a ShapeError if their shapes differ, a DTypeError for floats.
  Tensor of_columns(const std::vector<Column>& columns) const;

 protected:
  Values call_many(const Values& xs) override;

 private:
  HashedCrossingOptions options_;
};

}  // namespace mezzo
