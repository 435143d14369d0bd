#include <mezzo/layers/preprocessing/feature_rows.hpp>

#include <cstring>
#include <numeric>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/table_dataset.hpp>

namespace mezzo::detail {
namespace {

/// Targets and weights of all rows.
std::vector<NamedTensor> others_of(const Table& table, const FeatureDatasetOptions& options) {
  std::vector<std::string> names = options.targets;
  names.insert(names.end(), options.weights.begin(), options.weights.end());
  if (names.empty() || table.rows() == 0) return {};
  TableDatasetOptions fields;
  fields.targets = options.targets;
  fields.weights = options.weights;
  const std::set<std::string> once(names.begin(), names.end());
  std::vector<std::int64_t> all(static_cast<std::size_t>(table.rows()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return table_dataset(table.select({once.begin(), once.end()}), fields).gather(all).fields;
}

}  // namespace

FeatureRows::FeatureRows(std::shared_ptr<const FeatureLayout> layout, bool joined, const Table& table,
                         const FeatureDatasetOptions& options, const std::string& where)
    : layout_(std::move(layout)), joined_(joined), size_(table.rows()) {
  if (size_ == 0) fail<ValueError>(where, "the table must have rows; got none");
  values_ = layout_->read(table);
  if (joined_) {
    fields_.push_back({"features", {layout_->width()}, DType::float32, Role::input});
  } else {
    for (const auto& output : layout_->outputs()) {
      fields_.push_back({output.name, {output.width}, output.dtype(), Role::input});
    }
  }
  std::set<std::string> names;
  for (const Field& field : fields_) names.insert(field.name);
  for (NamedTensor& other : others_of(table, options)) {
    if (!names.insert(other.name).second) {
      fail<ValueError>(where, "a target or weight must have another name than a field of features; got \"{}\"",
                       other.name);
    }
    fields_.push_back({other.name, {}, other.tensor.dtype(), other.role});
    others_.push_back(std::move(other.tensor));
  }
}

void FeatureRows::read(std::int64_t index, void* const* out) const {
  const std::size_t features = fields_.size() - others_.size();
  if (joined_) {
    layout_->encode_joined(values_, index, static_cast<float*>(out[0]));
  } else {
    layout_->encode(values_, index, out);
  }
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const std::size_t bytes = dtype_size(others_[i].dtype());
    std::memcpy(out[features + i], static_cast<const char*>(others_[i].raw()) + static_cast<std::size_t>(index) * bytes,
                bytes);
  }
}

}  // namespace mezzo::detail
