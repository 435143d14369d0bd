#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/data/dataset_source.hpp>
#include <mezzo/layers/preprocessing/feature_layout.hpp>

namespace mezzo::detail {

/// Rows of a table as samples with encoded features.
class FeatureRows : public DatasetSource {
 public:
  /// `joined`: one field of all features. Throws the errors of FeatureSpace::dataset().
  FeatureRows(std::shared_ptr<const FeatureLayout> layout, bool joined, const Table& table,
              const FeatureDatasetOptions& options, const std::string& where);

  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override;

 private:
  std::shared_ptr<const FeatureLayout> layout_;
  bool joined_;
  std::int64_t size_;
  std::vector<FeatureValues> values_;
  std::vector<Tensor> others_;  // targets and weights
  std::vector<Field> fields_;   // of features, then of others_
};

}  // namespace mezzo::detail
