#include <mezzo/data/collate.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/gather.hpp>
#include <mezzo/data/sources.hpp>

namespace mezzo::detail {
namespace {

std::int64_t count_of(Shape::const_iterator begin, Shape::const_iterator end) {
  std::int64_t count = 1;
  for (; begin != end; ++begin) count *= *begin;
  return count;
}

/// Copies an array into the first part, along each axis, of a larger one.
void copy_block(const std::byte* from, const Shape& shape, std::byte* to, const Shape& padded, std::size_t axis,
                std::size_t item) {
  const auto at = static_cast<std::ptrdiff_t>(std::min(axis + 1, shape.size()));
  const bool whole = std::equal(shape.begin() + at, shape.end(), padded.begin() + at);
  if (whole) {
    const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(axis);
    std::memcpy(to, from, static_cast<std::size_t>(count_of(begin, shape.end())) * item);
    return;
  }
  const std::size_t from_step = static_cast<std::size_t>(count_of(shape.begin() + at, shape.end())) * item;
  const std::size_t to_step = static_cast<std::size_t>(count_of(padded.begin() + at, padded.end())) * item;
  for (std::int64_t i = 0; i < shape[axis]; ++i, from += from_step, to += to_step) {
    copy_block(from, shape, to, padded, axis + 1, item);
  }
}

void fill(Tensor& tensor, double value) {
  const Tensor element = Tensor::scalar(value, DType::float64).cast(tensor.dtype());
  auto* to = static_cast<std::byte*>(tensor.mutable_raw());
  for (std::int64_t i = 0; i < tensor.size(); ++i, to += element.bytes()) {
    std::memcpy(to, element.raw(), element.bytes());
  }
}

/// The fields with the sizes of open axes in a batch of these samples.
std::vector<Field> closed(std::vector<Field> fields, const std::vector<DatasetSample>& samples,
                          const BatchPadding& padding, const char* where) {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Shape& shape = fields[i].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] != -1) continue;
      std::int64_t most = 0;
      for (const DatasetSample& sample : samples) most = std::max(most, sample[i].tensor.shape()[axis]);
      longest = std::max(longest, most);
      shape[axis] = padding.boundaries.empty() ? most : -1;
    }
  }
  if (padding.boundaries.empty()) return fields;
  const std::int64_t size = padding.boundaries[bucket_of(longest, padding.boundaries, where)];
  for (Field& field : fields) std::replace(field.shape.begin(), field.shape.end(), std::int64_t{-1}, size);
  return fields;
}

}  // namespace

std::size_t bucket_of(std::int64_t length, const std::vector<std::int64_t>& boundaries, const std::string& where) {
  const auto found = std::lower_bound(boundaries.begin(), boundaries.end(), length);
  if (found == boundaries.end()) {
    fail<ValueError>(where, "open axes must have a size of at most {}, the last of bucket_boundaries; got {}",
                     boundaries.back(), length);
  }
  return static_cast<std::size_t>(found - boundaries.begin());
}

std::vector<DatasetSample> read_samples(const DatasetSource& source, const std::vector<std::int64_t>& indices,
                                        std::int64_t epoch, const char* where, SkippedSamples* skipped) {
  const std::vector<Field>& fields = source.fields();
  std::vector<DatasetSample> out;
  for (const std::int64_t index : indices) {
    try {
      std::vector<Tensor> tensors = source.sample(index, epoch);
      if (tensors.size() != fields.size()) {
        fail<ValueError>("", "sample() must return {} tensors, one per field; got {}", fields.size(), tensors.size());
      }
      DatasetSample sample;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const Field& field = fields[i];
        if (tensors[i].dtype() != field.dtype || !fits(tensors[i].shape(), field.shape)) {
          fail<ShapeError>("", "field \"{}\" must be {} {}; got {}", field.name, field.dtype, field.shape, tensors[i]);
        }
        sample.push_back({.name = field.name, .tensor = std::move(tensors[i]), .role = field.role});
      }
      out.push_back(std::move(sample));
    } catch (...) {
      rethrow_or_skip(fmt::format("{} sample {}: ", where, index), skipped);
    }
  }
  if (out.empty() && !indices.empty()) {
    fail<ValueError>(where, "a batch must have a sample that can be read; got errors of all its {}", indices.size());
  }
  return out;
}

void collate_padded(const std::vector<Field>& fields, const std::vector<DatasetSample>& samples,
                    const BatchPadding& padding, const char* where, HostBatch& batch) {
  const std::vector<Field> sizes = closed(fields, samples, padding, where);
  prepare(sizes, static_cast<std::int64_t>(samples.size()), where, batch);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Tensor& to = batch.fields[i].tensor;
    const Shape& shape = sizes[i].shape;
    const std::size_t item = dtype_size(to.dtype());
    if (shape != fields[i].shape) {
      const auto value = padding.values.find(fields[i].name);
      fill(to, value == padding.values.end() ? 0.0 : value->second);
    }
    auto* place = static_cast<std::byte*>(to.mutable_raw());
    const std::size_t step = static_cast<std::size_t>(count_of(shape.begin(), shape.end())) * item;
    for (const DatasetSample& sample : samples) {
      const Tensor& from = sample[i].tensor;
      copy_block(static_cast<const std::byte*>(from.raw()), from.shape(), place, shape, 0, item);
      place += step;
    }
  }
}

HostBatch collate_with(const std::function<HostBatch(const std::vector<DatasetSample>&)>& function,
                       const std::vector<DatasetSample>& samples) {
  HostBatch out = function(samples);
  const auto count = static_cast<std::int64_t>(samples.size());
  if (out.size != count || out.fields.empty()) {
    fail<ValueError>("", "collate must return a batch of {} samples with fields; got {} samples and {} fields", count,
                     out.size, out.fields.size());
  }
  for (const NamedTensor& field : out.fields) {
    if (field.tensor.shape().empty() || field.tensor.shape()[0] != count) {
      fail<ShapeError>("", "collate: field \"{}\" must have {} samples along axis 0; got {}", field.name, count,
                       field.tensor);
    }
  }
  return out;
}

HostBatch map_batch(const std::function<HostBatch(HostBatch, std::int64_t, std::int64_t)>& function, HostBatch batch,
                    std::int64_t index, std::int64_t epoch) {
  std::vector<std::string> names;
  for (const NamedTensor& field : batch.fields) names.push_back(field.name);
  const std::int64_t samples = batch.size, skipped = batch.skipped;
  HostBatch out;
  try {
    out = function(std::move(batch), index, epoch);
  } catch (...) {
    rethrow_with(fmt::format("[DataLoader] batch {}: ", index));
  }
  bool good = out.size == samples && out.fields.size() == names.size();
  for (std::size_t i = 0; good && i < names.size(); ++i) {
    const Shape& shape = out.fields[i].tensor.shape();
    good = out.fields[i].name == names[i] && !shape.empty() && shape[0] == samples;
  }
  if (!good) {
    fail<ValueError>("[DataLoader.map]", "the function must return {} samples of the fields {}", samples,
                     fmt::join(names, ", "));
  }
  out.skipped = skipped;
  return out;
}

}  // namespace mezzo::detail
