#include <mezzo/data/dataset.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/gather.hpp>
#include <mezzo/data/sources.hpp>

namespace mezzo {
namespace {

void check_indices(const std::vector<std::int64_t>& indices, std::int64_t size) {
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= size) {
      fail<ValueError>("[Dataset]", "indices must lie in [0, {}); got {}", size, index);
    }
  }
}

}  // namespace

Dataset Dataset::from_tensors(std::vector<NamedTensor> fields) { return detail::TensorSource(std::move(fields)); }

Dataset Dataset::from_function(FunctionDatasetOptions options) { return detail::FunctionSource(std::move(options)); }

const std::vector<Field>& Dataset::fields() const {
  static const std::vector<Field> none;
  return source_ ? source_->fields() : none;
}

Dataset Dataset::subset(std::vector<std::int64_t> indices) const {
  check_indices(indices, size());
  return source_ ? Dataset(detail::SubsetSource(source_, std::move(indices))) : Dataset();
}

Dataset Dataset::range(std::int64_t begin, std::int64_t end) const {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return subset(std::move(indices));
}

Dataset Dataset::take(std::int64_t count) const {
  if (count < 0) fail<ValueError>("[Dataset.take]", "count must be 0 or more; got {}", count);
  return range(0, std::min(count, size()));
}

std::pair<Dataset, Dataset> Dataset::split(double fraction) const {
  if (!(fraction >= 0 && fraction <= 1)) {
    fail<ValueError>("[Dataset.split]", "fraction must lie in [0, 1]; got {}", fraction);
  }
  const auto first = static_cast<std::int64_t>(std::floor(static_cast<double>(size()) * fraction));
  return {range(0, first), range(first, size())};
}

Dataset Dataset::map(const std::string& field, std::function<Tensor(const Tensor&)> function) const {
  if (!function) fail<ValueError>("[Dataset.map]", "function must be given; got none");
  return map(field,
             [one = std::move(function)](const Tensor& value, std::int64_t, std::int64_t) { return one(value); });
}

Dataset Dataset::map(const std::string& field,
                     std::function<Tensor(const Tensor&, std::int64_t, std::int64_t)> function) const {
  if (!source_) fail<ValueError>("[Dataset.map]", "the data set must have samples; got none");
  return detail::MapSource(source_, field, std::move(function));
}

HostBatch Dataset::gather(const std::vector<std::int64_t>& indices) const {
  check_indices(indices, size());
  HostBatch batch;
  if (source_) detail::gather(*source_, indices, 0, "[Dataset]", batch);
  return batch;
}

}  // namespace mezzo
