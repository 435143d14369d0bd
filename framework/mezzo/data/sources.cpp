#include <mezzo/data/sources.hpp>

#include <algorithm>
#include <cstring>
#include <set>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void check_fields(const std::vector<Field>& fields) {
  if (fields.empty()) fail<ValueError>("[Dataset]", "there must be at least 1 field; got none");
  std::set<std::string> names;
  for (const Field& field : fields) {
    if (field.name.empty()) fail<ValueError>("[Dataset]", "a field must have a name; got \"\"");
    if (!names.insert(field.name).second) {
      fail<ValueError>("[Dataset]", "the names of the fields must differ; got \"{}\" twice", field.name);
    }
  }
}

bool has_open_axis(const std::vector<Field>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const Field& field) {
    return std::find(field.shape.begin(), field.shape.end(), -1) != field.shape.end();
  });
}

bool fits(const Shape& shape, const Shape& field) {
  return std::equal(shape.begin(), shape.end(), field.begin(), field.end(),
                    [](std::int64_t size, std::int64_t wanted) { return wanted == -1 || size == wanted; });
}

TensorSource::TensorSource(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)) {
  for (const NamedTensor& from : tensors_) {
    const Shape& shape = from.tensor.shape();
    const std::string field = fmt::format("[Dataset] field \"{}\"", from.name);
    if (shape.empty()) fail<ShapeError>(field, "must have an axis 0 that counts the samples; got shape ()");
    if (fields_.empty()) size_ = shape[0];
    if (shape[0] != size_) {
      fail<ShapeError>(field, "must have {} samples, as \"{}\" has; got shape {}", size_, tensors_.front().name, shape);
    }
    fields_.push_back({from.name, Shape(shape.begin() + 1, shape.end()), from.tensor.dtype(), from.role});
    row_bytes_.push_back(size_ > 0 ? from.tensor.bytes() / static_cast<std::size_t>(size_) : 0);
  }
  check_fields(fields_);
}

void TensorSource::read(std::int64_t index, void* const* out) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto* rows = static_cast<const std::byte*>(tensors_[i].tensor.raw());
    std::memcpy(out[i], rows + static_cast<std::size_t>(index) * row_bytes_[i], row_bytes_[i]);
  }
}

FunctionSource::FunctionSource(FunctionDatasetOptions options) : options_(std::move(options)) {
  if (options_.size < 0) {
    fail<ValueError>("[Dataset]", "size must be 0 or more; got {}", options_.size);
  }
  if (!options_.function && !options_.epoch_function) {
    fail<ValueError>("[Dataset]", "function or epoch_function must be given; got neither");
  }
  if (options_.function && options_.epoch_function) {
    fail<ValueError>("[Dataset]", "only one of function and epoch_function must be given; got both");
  }
  check_fields(options_.fields);
}

std::vector<Tensor> FunctionSource::sample(std::int64_t index, std::int64_t epoch) const {
  std::vector<Tensor> made = options_.function ? options_.function(index) : options_.epoch_function(index, epoch);
  const std::vector<Field>& fields = options_.fields;
  if (made.size() != fields.size()) {
    fail<ValueError>("", "the function must return {} tensors, one per field; got {}", fields.size(), made.size());
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, shape, dtype, role] = fields[i];
    if (made[i].dtype() != dtype) fail<DTypeError>("", "field \"{}\" must be {}; got {}", name, dtype, made[i]);
    if (!fits(made[i].shape(), shape)) {
      fail<ShapeError>("", "field \"{}\" must have shape {}; got {}", name, shape, made[i]);
    }
  }
  return made;
}

void FunctionSource::read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const std::vector<Tensor> made = sample(index, epoch);
  for (std::size_t i = 0; i < made.size(); ++i) std::memcpy(out[i], made[i].raw(), made[i].bytes());
}

SamplesSource::SamplesSource(std::vector<NamedSamples> samples) : samples_(std::move(samples)) {
  for (const NamedSamples& given : samples_) {
    const std::string where = fmt::format("[Dataset] field \"{}\"", given.name);
    const std::size_t count = samples_.front().samples.size();
    if (given.samples.size() != count) {
      fail<ShapeError>(where, "must have {} samples, as \"{}\" has; got {}", count, samples_.front().name,
                       given.samples.size());
    }
    if (count == 0) fail<ValueError>(where, "must have samples; got none");
    const Tensor& first = given.samples.front();
    Field field{given.name, first.shape(), first.dtype(), given.role};
    for (std::size_t i = 0; i < count; ++i) {
      const Tensor& one = given.samples[i];
      if (one.dtype() != first.dtype()) fail<DTypeError>(where, "sample {} must be {}; got {}", i, first.dtype(), one);
      if (one.shape().size() != first.shape().size()) {
        fail<ShapeError>(where, "sample {} must have {} axes, as sample 0 has; got {}", i, first.shape().size(), one);
      }
      for (std::size_t axis = 0; axis < field.shape.size(); ++axis) {
        if (one.shape()[axis] != first.shape()[axis]) field.shape[axis] = -1;
      }
    }
    fields_.push_back(std::move(field));
  }
  check_fields(fields_);
}

void SamplesSource::read(std::int64_t index, void* const* out) const {
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const Tensor& one = samples_[i].samples[static_cast<std::size_t>(index)];
    std::memcpy(out[i], one.raw(), one.bytes());
  }
}

std::vector<Tensor> SamplesSource::sample(std::int64_t index, std::int64_t) const {
  std::vector<Tensor> out;
  for (const NamedSamples& field : samples_) out.push_back(field.samples[static_cast<std::size_t>(index)]);
  return out;
}

std::int64_t SamplesSource::length(std::int64_t index) const {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Shape& shape = samples_[i].samples[static_cast<std::size_t>(index)].shape();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (fields_[i].shape[axis] == -1) longest = std::max(longest, shape[axis]);
    }
  }
  return longest;
}

MapSource::MapSource(std::shared_ptr<const DatasetSource> from, const std::string& field, Function function)
    : from_(std::move(from)), fields_(from_->fields()), function_(std::move(function)) {
  const std::string where = "[Dataset.map]";
  if (!function_) fail<ValueError>(where, "function must be given; got none");
  std::vector<std::string> names;
  for (const Field& one : fields_) names.push_back(one.name);
  mapped_ = static_cast<std::size_t>(std::find(names.begin(), names.end(), field) - names.begin());
  if (mapped_ == names.size()) fail_unknown(where, "field", field, names);
  if (size() == 0) fail<ValueError>(where, "the data set must have samples; got none");
  std::vector<Tensor> others;
  std::vector<void*> out;
  Field& changed = fields_[mapped_];
  const bool open = has_open_axis({changed});
  Tensor first;
  if (has_open_axis(fields_)) {
    first = function_(from_->sample(0, 0)[mapped_], 0, 0);
  } else {
    for (const Field& one : fields_) {
      others.push_back(Tensor::uninitialized(one.shape, one.dtype));
      out.push_back(others.back().mutable_raw());
    }
    first = mapped(0, 0, out.data());
  }
  changed.shape = open ? Shape(first.shape().size(), -1) : first.shape();
  changed.dtype = first.dtype();
}

Tensor MapSource::mapped(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const Field& given = from_->fields()[mapped_];
  Tensor value = Tensor::uninitialized(given.shape, given.dtype);
  std::vector<void*> places(out, out + fields_.size());
  places[mapped_] = value.mutable_raw();
  from_->read_in_epoch(index, epoch, places.data());
  return function_(value, index, epoch);
}

void MapSource::check(const Tensor& value) const {
  const Field& field = fields_[mapped_];
  if (value.dtype() == field.dtype && fits(value.shape(), field.shape)) return;
  fail<ShapeError>("", "map of field \"{}\" must return {} {}, as for sample 0; got {}", field.name, field.dtype,
                   field.shape, value);
}

void MapSource::read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const Tensor value = mapped(index, epoch, out);
  check(value);
  std::memcpy(out[mapped_], value.raw(), value.bytes());
}

std::vector<Tensor> MapSource::sample(std::int64_t index, std::int64_t epoch) const {
  std::vector<Tensor> out = from_->sample(index, epoch);
  Tensor value = function_(out[mapped_], index, epoch);
  check(value);
  out[mapped_] = std::move(value);
  return out;
}

}  // namespace mezzo::detail
