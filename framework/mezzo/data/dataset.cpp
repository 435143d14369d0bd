#include <mezzo/data/dataset.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/data/collate.hpp>
#include <mezzo/data/gather.hpp>
#include <mezzo/data/sources.hpp>
#include <mezzo/data/views.hpp>

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

Dataset Dataset::from_tensors(std::vector<detail::NamedTensor> fields) {
  return detail::TensorSource(std::move(fields));
}

Dataset Dataset::from_function(FunctionDatasetOptions options) { return detail::FunctionSource(std::move(options)); }

Dataset Dataset::from_samples(std::vector<detail::NamedSamples> fields) {
  if (fields.empty()) fail<ValueError>("[Dataset]", "there must be at least 1 field; got none");
  return detail::SamplesSource(std::move(fields));
}

Dataset Dataset::concat(const std::vector<Dataset>& datasets) {
  std::vector<std::shared_ptr<const DatasetSource>> parts;
  for (const Dataset& part : datasets) {
    if (part.source_) parts.push_back(part.source_);
  }
  if (parts.empty()) fail<ValueError>("[Dataset.concat]", "there must be a data set with fields; got none");
  return detail::ConcatSource(std::move(parts));
}

const std::vector<Field>& Dataset::fields() const {
  static const std::vector<Field> none;
  return source_ ? source_->fields() : none;
}

Dataset Dataset::subset(std::vector<std::int64_t> indices) const {
  check_indices(indices, size());
  return source_ ? Dataset(detail::SubsetSource(source_, std::move(indices))) : Dataset();
}

Dataset Dataset::range(std::int64_t begin, std::int64_t end) const {
  if (begin < 0 || begin > end || end > size()) {
    fail<ValueError>("[Dataset.range]", "begin and end must satisfy 0 <= begin <= end <= {}; got {} and {}", size(),
                     begin, end);
  }
  return source_ ? Dataset(detail::RangeSource(source_, begin, end)) : Dataset();
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

std::vector<Dataset> Dataset::random_split(const std::vector<double>& fractions,
                                           std::optional<std::uint64_t> seed) const {
  const std::string where = "[Dataset.random_split]";
  double sum = 0;
  for (const double fraction : fractions) {
    if (!(fraction >= 0)) fail<ValueError>(where, "fractions must be 0 or more; got {}", fraction);
    sum += fraction;
  }
  if (!(std::abs(sum - 1) <= 1e-9)) fail<ValueError>(where, "fractions must have sum 1; got {}", sum);
  if (!source_) return std::vector<Dataset>(fractions.size());
  std::vector<std::int64_t> sizes;
  for (const double fraction : fractions) {
    sizes.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(size()) * fraction)));
  }
  std::int64_t rest = size() - std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  for (std::size_t i = 0; rest > 0; i = (i + 1) % sizes.size(), --rest) ++sizes[i];
  const std::uint64_t key = detail::mix(seed.value_or(mezzo::seed()), detail::key_of("random_split"));
  const Dataset all(detail::PermutedSource(source_, key));
  std::vector<Dataset> parts;
  std::int64_t begin = 0;
  for (const std::int64_t part : sizes) {
    parts.push_back(all.range(begin, begin + part));
    begin += part;
  }
  return parts;
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
  constexpr const char* where = "[Dataset]";
  if (detail::has_open_axis(fields())) {
    detail::collate_padded(fields(), detail::read_samples(*source_, indices, 0, where), {}, where, batch);
  } else if (source_) {
    detail::gather(*source_, indices, 0, where, batch);
  }
  return batch;
}

}  // namespace mezzo
