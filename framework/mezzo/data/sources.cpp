#include <mezzo/data/sources.hpp>

#include <algorithm>
#include <cstring>
#include <set>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

void check_fields(const std::vector<Field>& fields) {
  if (fields.empty()) fail<ValueError>("[Dataset]", "there must be at least 1 field; got none");
  std::set<std::string> names;
  for (const Field& field : fields) {
    if (!names.insert(field.name).second) {
      fail<ValueError>("[Dataset]", "the names of the fields must differ; got \"{}\" twice", field.name);
    }
  }
}

}  // namespace

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

void FunctionSource::read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const std::vector<Tensor> made = options_.function ? options_.function(index) : options_.epoch_function(index, epoch);
  const std::vector<Field>& fields = options_.fields;
  if (made.size() != fields.size()) {
    fail<ValueError>("", "the function must return {} tensors, one per field; got {}", fields.size(), made.size());
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, shape, dtype, role] = fields[i];
    if (made[i].dtype() != dtype) fail<DTypeError>("", "field \"{}\" must be {}; got {}", name, dtype, made[i]);
    if (made[i].shape() != shape) {
      fail<ShapeError>("", "field \"{}\" must have shape {}; got {}", name, shape, made[i]);
    }
    std::memcpy(out[i], made[i].raw(), made[i].bytes());
  }
}

MapSource::MapSource(std::shared_ptr<const DatasetSource> from, const std::string& field, Function function)
    : from_(std::move(from)), fields_(from_->fields()), function_(std::move(function)) {
  const std::string where = "[Dataset.map]";
  if (!function_) fail<ValueError>(where, "function must be given; got none");
  std::vector<std::string> names;
  for (const Field& one : fields_) names.push_back(one.name);
  mapped_ = static_cast<std::size_t>(std::find(names.begin(), names.end(), field) - names.begin());
  if (mapped_ == names.size()) {
    fail<NameError>(where, "unknown field \"{}\"; valid names: {}", field, fmt::join(names, ", "));
  }
  if (size() == 0) fail<ValueError>(where, "the data set must have samples; got none");
  std::vector<Tensor> others;
  std::vector<void*> out;
  for (const Field& one : fields_) {
    others.push_back(Tensor::uninitialized(one.shape, one.dtype));
    out.push_back(others.back().mutable_raw());
  }
  const Tensor first = mapped(0, 0, out.data());
  fields_[mapped_].shape = first.shape();
  fields_[mapped_].dtype = first.dtype();
}

Tensor MapSource::mapped(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const Field& given = from_->fields()[mapped_];
  Tensor value = Tensor::uninitialized(given.shape, given.dtype);
  std::vector<void*> places(out, out + fields_.size());
  places[mapped_] = value.mutable_raw();
  from_->read_in_epoch(index, epoch, places.data());
  return function_(value, index, epoch);
}

void MapSource::read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const Tensor value = mapped(index, epoch, out);
  const Field& field = fields_[mapped_];
  if (value.dtype() != field.dtype || value.shape() != field.shape) {
    fail<ShapeError>("", "map of field \"{}\" must return {} {}, as for sample 0; got {}", field.name, field.dtype,
                     field.shape, value);
  }
  std::memcpy(out[mapped_], value.raw(), value.bytes());
}

}  // namespace mezzo::detail
