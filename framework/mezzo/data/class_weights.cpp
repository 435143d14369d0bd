#include <algorithm>
#include <cmath>
#include <map>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {
namespace {

/// The fields of another data set, and the weights of the classes of each sample.
class ClassWeighted : public DatasetSource {
 public:
  /// `labels`: a weight for each element of the target; `scores`: one for the largest of them. At least one is true.
  ClassWeighted(std::shared_ptr<const DatasetSource> source, std::size_t target, std::map<std::int64_t, double> weights,
                bool labels, bool scores)
      : source_(std::move(source)), target_(target), weights_(std::move(weights)), fields_(source_->fields()) {
    first_ = fields_.size();
    if (labels) add_field("sample_weight", fields_[target].shape);
    if (scores) add_field(labels ? detail::class_weight_of_scores : "sample_weight", {});
  }

  std::int64_t size() const override { return source_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(std::int64_t index, void* const* out) const override {
    source_->read(index, out);
    add_weights(out);
  }
  void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const override {
    source_->read_in_epoch(index, epoch, out);
    add_weights(out);
  }
  std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const override {
    std::vector<Tensor> out = source_->sample(index, epoch);
    const Tensor target = out[target_];
    for (std::size_t i = first_; i < fields_.size(); ++i) {
      Tensor weights(fields_[i].shape.empty() ? Shape{} : target.shape(), DType::float32);
      write(target.raw(), target.size(), fields_[i], weights.mutable_data<float>());
      out.push_back(weights);
    }
    return out;
  }
  std::int64_t length(std::int64_t index) const override { return source_->length(index); }

 private:
  void add_field(const char* name, const Shape& shape) {
    fields_.push_back({.name = name, .shape = shape, .dtype = DType::float32, .role = Role::weight});
  }

  float weight_of(std::int64_t label) const {
    const auto found = weights_.find(label);
    return found == weights_.end() ? 1.0F : static_cast<float>(found->second);
  }

  void add_weights(void* const* out) const {
    const std::int64_t count = element_count(fields_[target_].shape);
    for (std::size_t i = first_; i < fields_.size(); ++i) {
      write(out[target_], count, fields_[i], static_cast<float*>(out[i]));
    }
  }

  /// Writes the weights of a field for a target of that many elements.
  void write(const void* target, std::int64_t count, const Field& field, float* out) const {
    visit_dtype(fields_[target_].dtype, [&](auto zero) {
      using T = decltype(zero);
      const T* elements = static_cast<const T*>(target);
      const auto label = [](T element) { return std::llround(convert<double>(element)); };
      if (!field.shape.empty()) {
        for (std::int64_t i = 0; i < count; ++i) out[i] = weight_of(label(elements[i]));
        return;
      }
      const auto less = [](T a, T b) { return convert<double>(a) < convert<double>(b); };
      out[0] =
          weight_of(count == 1 ? label(elements[0]) : std::max_element(elements, elements + count, less) - elements);
    });
  }

  std::shared_ptr<const DatasetSource> source_;
  std::size_t target_;
  std::map<std::int64_t, double> weights_;
  std::vector<Field> fields_;
  std::size_t first_ = 0;  // field of weights
};

}  // namespace

Dataset detail::with_class_weights(const Dataset& data, const std::map<std::int64_t, double>& weights,
                                   ClassTargets targets, const std::string& where) {
  for (const auto& [label, weight] : weights) {
    if (std::isfinite(weight) && weight >= 0) continue;
    fail<ValueError>(where, "class_weight must have finite weights of 0 or more; got {} for class {}", weight, label);
  }
  const std::vector<Field>& fields = data.fields();
  std::size_t target = fields.size(), count = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].role == Role::weight) {
      fail<ValueError>(where, "class_weight and sample_weight must not be given together; got both");
    }
    if (fields[i].role != Role::target) continue;
    target = i;
    ++count;
  }
  if (count != 1) {
    fail<ValueError>(where, "class_weight needs a model with one output and one target; got {} targets", count);
  }
  const Shape& shape = fields[target].shape;
  const bool one = shape.empty() || (shape.size() == 1 && shape[0] == 1);
  const bool whole = !is_floating(fields[target].dtype);
  const bool labels = !one && (targets == ClassTargets::labels || (targets == ClassTargets::either && whole));
  const bool rows = shape.size() == 1 && shape[0] >= 1;
  if (!one && !labels && !rows) {
    fail<ValueError>(where, "class_weight needs targets of shape (), (1,) or (classes,) for a sample; got shape {}",
                     shape);
  }
  if (!one && !labels) {
    for (const auto& [label, weight] : weights) {
      if (label >= 0 && label < shape[0]) continue;
      fail<ValueError>(where, "class_weight must have classes from 0 to {}, as targets of shape {} have; got class {}",
                       shape[0] - 1, shape, label);
    }
  }
  const bool scores = one || !labels || (rows && targets == ClassTargets::either);
  return ClassWeighted(data.source_, target, weights, labels, scores);
}

}  // namespace mezzo
