#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/data/dataset.hpp>

namespace mezzo::detail {

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

 private:
  FunctionDatasetOptions options_;
};

/// Some samples of another data set, in a given order.
class SubsetSource : public DatasetSource {
 public:
  SubsetSource(std::shared_ptr<const DatasetSource> whole, std::vector<std::int64_t> indices)
      : whole_(std::move(whole)), indices_(std::move(indices)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }
  const std::vector<Field>& fields() const override { return whole_->fields(); }
  void read(std::int64_t index, void* const* out) const override {
    whole_->read(indices_[static_cast<std::size_t>(index)], out);
  }
  void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const override {
    whole_->read_in_epoch(indices_[static_cast<std::size_t>(index)], epoch, out);
  }

 private:
  std::shared_ptr<const DatasetSource> whole_;
  std::vector<std::int64_t> indices_;
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

 private:
  Tensor mapped(std::int64_t index, std::int64_t epoch, void* const* out) const;

  std::shared_ptr<const DatasetSource> from_;
  std::vector<Field> fields_;
  std::size_t mapped_ = 0;  // the field
  Function function_;
};

}  // namespace mezzo::detail
