#pragma once
#include <string>
#include <vector>

#include <mezzo/data/text/index_lookup.hpp>
#include <mezzo/layers/preprocessing/feature_types.hpp>
#include <mezzo/layers/preprocessing/feature_values.hpp>
#include <mezzo/layers/preprocessing/quantile_summary.hpp>
#include <mezzo/layers/preprocessing/running_moments.hpp>

namespace mezzo::detail {

/// Gathers what adapt() sets in a feature, from one table after another. The result doesn't depend on how the rows are
/// divided into tables.
class FeatureAdapter {
 public:
  /// `where` starts the errors.
  FeatureAdapter(const FeatureSettings& feature, std::string where);

  /// Adds the rows of a table. Throws a ValueError for a number of a discretized feature that isn't finite.
  void add(const FeatureValues& values);

  /// Sets the members of an adaptable feature. Throws a ValueError if there were no rows, no token, or no finite mean.
  void finish(FeatureSettings& feature);

 private:
  void flush();

  std::string where_;
  FeatureType type_;
  std::vector<float> waiting_;  // less than a batch
  RunningMoments moments_;
  QuantileSummary quantiles_;
  TokenCounts<std::string> texts_;
  TokenCounts<std::int64_t> integers_;
};

}  // namespace mezzo::detail
