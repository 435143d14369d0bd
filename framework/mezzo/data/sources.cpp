#include <mezzo/data/sources.hpp>

#include <cstring>
#include <set>
#include <string>

#include <mezzo/core/error.hpp>

namespace mezzo::detail {
namespace {

void check_fields(const std::vector<Field>& fields) {
  if (fields.empty()) throw ValueError("[Dataset] there must be at least 1 field; got none");
  std::set<std::string> names;
  for (const Field& field : fields) {
    if (!names.insert(field.name).second) {
      throw ValueError("[Dataset] the names of the fields must differ; got \"" + field.name + "\" twice");
    }
  }
}

}  // namespace

TensorSource::TensorSource(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)) {
  for (const NamedTensor& from : tensors_) {
    const Shape& shape = from.tensor.shape();
    const std::string field = "[Dataset] field \"" + from.name + "\"";
    if (shape.empty()) throw ShapeError(field + " must have an axis 0 that counts the samples; got shape ()");
    if (fields_.empty()) size_ = shape[0];
    if (shape[0] != size_) {
      throw ShapeError(field + " must have " + std::to_string(size_) + " samples, as \"" + tensors_.front().name +
                       "\" has; got shape " + to_string(shape));
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
    throw ValueError("[Dataset] size must be 0 or more; got " + std::to_string(options_.size));
  }
  if (!options_.function && !options_.epoch_function) {
    throw ValueError("[Dataset] function must be given; got an empty one");
  }
  if (options_.function && options_.epoch_function) {
    throw ValueError("[Dataset] function and epoch_function exclude each other; got both");
  }
  check_fields(options_.fields);
}

void FunctionSource::read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const std::vector<Tensor> made = options_.function ? options_.function(index) : options_.epoch_function(index, epoch);
  const std::vector<Field>& fields = options_.fields;
  if (made.size() != fields.size()) {
    throw ValueError("the function must return " + std::to_string(fields.size()) + " tensors, one a field; got " +
                     std::to_string(made.size()));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string must = "field \"" + fields[i].name + "\" must be ";
    if (made[i].dtype() != fields[i].dtype) {
      throw DTypeError(must + dtype_name(fields[i].dtype) + "; got " + made[i].describe());
    }
    if (made[i].shape() != fields[i].shape) {
      throw ShapeError(must + to_string(fields[i].shape) + "; got " + made[i].describe());
    }
    std::memcpy(out[i], made[i].raw(), made[i].bytes());
  }
}

}  // namespace mezzo::detail
