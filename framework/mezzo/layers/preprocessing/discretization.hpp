#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>
#include <mezzo/layers/preprocessing/adapted.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct DiscretizationOptions {
  std::vector<double> bin_boundaries{};    ///< in ascending order; default: set by adapt()
  std::optional<std::int64_t> num_bins{};  ///< number of bins that adapt() makes; one of the two is required
  double epsilon = 0.01;                   ///< error of the quantiles of adapt(), in (0, 1)
  std::string output_mode = "int";         ///< "int" (int32), "one_hot", "multi_hot" or "count" (compute dtype)
  std::string name{};                      ///< name of the layer; "": automatic ("discretization", ...)
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Number of the bin of each number: the count of boundaries that are not above it. NaN is in the last bin.
class MEZZO_API Discretization : public Layer {
 public:
  /// A ValueError unless exactly one of bin_boundaries and num_bins is given, both in their range, a NameError for an
  /// unknown output_mode.
  explicit Discretization(DiscretizationOptions options = {});

  /// Sets the boundaries to quantiles of an array, as Keras estimates them. A ValueError for a layer with given
  /// boundaries, for an array without numbers, and for NaN and infinities. A ValueError too if the number of columns of
  /// an encoded mode would change after a model was built with the layer.
  void adapt(const Tensor& data);

  /// The same for a field of a data set, its first input by default, read in batches of 1024 samples.
  void adapt(const Dataset& data, const std::string& field = "");

  /// The boundaries; empty before adapt().
  const std::vector<double>& bin_boundaries() const { return *boundaries_; }

 protected:
  Value call(const Value& x) override;

 private:
  void set_boundaries(std::vector<double> boundaries);

  DiscretizationOptions options_;
  detail::Adapted<std::vector<double>> boundaries_;
};

}  // namespace mezzo
