#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <mezzo/data/dataset_source.hpp>
#include <mezzo/data/permutation.hpp>

namespace mezzo::detail {

/// Samples of another data set, in an order defined by derived classes.
class ViewSource : public DatasetSource {
 public:
  explicit ViewSource(std::shared_ptr<const DatasetSource> whole) : whole_(std::move(whole)) {}
  const std::vector<Field>& fields() const override { return whole_->fields(); }
  void read(std::int64_t index, void* const* out) const override { whole_->read(place(index), out); }
  void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const override {
    whole_->read_in_epoch(place(index), epoch, out);
  }
  std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const override {
    return whole_->sample(place(index), epoch);
  }
  std::int64_t length(std::int64_t index) const override { return whole_->length(place(index)); }

 protected:
  /// Index in the other data set.
  virtual std::int64_t place(std::int64_t index) const = 0;

 private:
  std::shared_ptr<const DatasetSource> whole_;
};

/// The samples of a list of indices.
class SubsetSource : public ViewSource {
 public:
  SubsetSource(std::shared_ptr<const DatasetSource> whole, std::vector<std::int64_t> indices)
      : ViewSource(std::move(whole)), indices_(std::move(indices)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }

 protected:
  std::int64_t place(std::int64_t index) const override { return indices_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<std::int64_t> indices_;
};

/// Successive samples.
class RangeSource : public ViewSource {
 public:
  RangeSource(std::shared_ptr<const DatasetSource> whole, std::int64_t begin, std::int64_t end)
      : ViewSource(std::move(whole)), begin_(begin), size_(end - begin) {}
  std::int64_t size() const override { return size_; }

 protected:
  std::int64_t place(std::int64_t index) const override { return begin_ + index; }

 private:
  std::int64_t begin_, size_;
};

/// All samples in an order that is computed from a key.
class PermutedSource : public ViewSource {
 public:
  PermutedSource(const std::shared_ptr<const DatasetSource>& whole, std::uint64_t key)
      : ViewSource(whole), permutation_(whole->size()), key_(key) {}
  std::int64_t size() const override { return permutation_.size(); }

 protected:
  std::int64_t place(std::int64_t index) const override { return permutation_.at(index, key_); }

 private:
  KeyedPermutation permutation_;
  std::uint64_t key_;
};

/// Several data sets with the same fields, one after the other.
class ConcatSource : public DatasetSource {
 public:
  explicit ConcatSource(std::vector<std::shared_ptr<const DatasetSource>> parts);
  std::int64_t size() const override { return ends_.back(); }
  const std::vector<Field>& fields() const override { return parts_.front()->fields(); }
  void read(std::int64_t index, void* const* out) const override { read_in_epoch(index, 0, out); }
  void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const override;
  std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const override;
  std::int64_t length(std::int64_t index) const override;

 private:
  /// The part with a sample, and the sample's index in it.
  std::pair<const DatasetSource&, std::int64_t> find(std::int64_t index) const;

  std::vector<std::shared_ptr<const DatasetSource>> parts_;
  std::vector<std::int64_t> ends_;
};

}  // namespace mezzo::detail
