#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/data/dataset_source.hpp>

namespace mezzo::detail {

/// A ValueError if there are no fields or two names are equal.
void check_fields(const std::vector<Field>& fields);

/// True if a sample of these fields has an open axis.
bool has_open_axis(const std::vector<Field>& fields);

/// True if the shape is valid for a field.
bool fits(const Shape& shape, const Shape& field);

/// Data set of the rows of tensors.
class TensorSource : public DatasetSource {
 public:
  explicit TensorSource(std::vector<NamedTensor> tensors);
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override;

 private:
  std::vector<NamedTensor> tensors_;
  std::vector<Field> fields_;
  std::vector<std::size_t> row_bytes_;
  std::int64_t size_ = 0;
};

/// Data set of samples that a function makes.
class FunctionSource : public DatasetSource {
 public:
  explicit FunctionSource(FunctionDatasetOptions options);
  std::int64_t size() const override { return options_.size; }
  const std::vector<Field>& fields() const override { return options_.fields; }
  void read(std::int64_t index, void* const* out) const override { read_in_epoch(index, 0, out); }
  void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const override;
  std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const override;
  std::int64_t length(std::int64_t index) const override { return options_.length ? options_.length(index) : -1; }

 private:
  FunctionDatasetOptions options_;
};

/// Samples of different shapes in memory.
class SamplesSource : public DatasetSource {
 public:
  explicit SamplesSource(std::vector<NamedSamples> samples);
  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.front().samples.size()); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override;
  std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const override;
  std::int64_t length(std::int64_t index) const override;

 private:
  std::vector<NamedSamples> samples_;
  std::vector<Field> fields_;
};

/// Another data set with the values of one field replaced by those of a function.
class MapSource : public DatasetSource {
 public:
  using Function = std::function<Tensor(const Tensor& value, std::int64_t index, std::int64_t epoch)>;

  MapSource(std::shared_ptr<const DatasetSource> from, const std::string& field, Function function);
  std::int64_t size() const override { return from_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override { read_in_epoch(index, 0, out); }
  void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const override;
  std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const override;
  std::int64_t length(std::int64_t index) const override { return from_->length(index); }

 private:
  void check(const Tensor& value) const;
  Tensor mapped(std::int64_t index, std::int64_t epoch, void* const* out) const;

  std::shared_ptr<const DatasetSource> from_;
  std::vector<Field> fields_;
  std::size_t mapped_ = 0;  // the field
  Function function_;
};

}  // namespace mezzo::detail
