#include <algorithm>
#include <cmath>
#include <map>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {
namespace {

/// The fields of another data set, and the weight of the class of each sample.
class ClassWeighted : public DatasetSource {
 public:
  ClassWeighted(std::shared_ptr<const DatasetSource> source, std::size_t target, std::map<std::int64_t, double> weights)
      : source_(std::move(source)), target_(target), weights_(std::move(weights)), fields_(source_->fields()) {
    fields_.push_back({.name = "sample_weight", .shape = {}, .dtype = DType::float32, .role = Role::weight});
  }

  std::int64_t size() const override { return source_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(std::int64_t index, void* const* out) const override {
    source_->read(index, out);
    add_weight(out);
  }
  void read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const override {
    source_->read_in_epoch(index, epoch, out);
    add_weight(out);
  }
  std::vector<Tensor> sample(std::int64_t index, std::int64_t epoch) const override {
    std::vector<Tensor> out = source_->sample(index, epoch);
    out.push_back(Tensor::scalar(weight_of(out[target_].raw())));
    return out;
  }
  std::int64_t length(std::int64_t index) const override { return source_->length(index); }

 private:
  float weight_of(const void* target) const {
    const auto found = weights_.find(class_of(target));
    return found == weights_.end() ? 1.0F : static_cast<float>(found->second);
  }

  void add_weight(void* const* out) const { *static_cast<float*>(out[fields_.size() - 1]) = weight_of(out[target_]); }

  std::int64_t class_of(const void* target) const {
    const Field& field = fields_[target_];
    const std::int64_t size = field.shape.empty() ? 1 : field.shape[0];
    return visit_dtype(field.dtype, [&](auto zero) -> std::int64_t {
      using T = decltype(zero);
      const T* elements = static_cast<const T*>(target);
      if (size == 1) return std::llround(convert<double>(elements[0]));
      const auto less = [](T a, T b) { return convert<double>(a) < convert<double>(b); };
      return std::max_element(elements, elements + size, less) - elements;
    });
  }

  std::shared_ptr<const DatasetSource> source_;
  std::size_t target_;
  std::map<std::int64_t, double> weights_;
  std::vector<Field> fields_;
};

}  // namespace

Dataset detail::with_class_weights(const Dataset& data, const std::map<std::int64_t, double>& weights,
                                   const std::string& where) {
  const std::vector<Field>& fields = data.fields();
  std::size_t target = fields.size(), targets = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].role == Role::weight) {
      fail<ValueError>(where, "class_weight and sample_weight must not be given together; got both");
    }
    if (fields[i].role != Role::target) continue;
    target = i;
    ++targets;
  }
  if (targets != 1) {
    fail<ValueError>(where, "class_weight needs a model with one output and one target; got {} targets", targets);
  }
  const Shape& shape = fields[target].shape;
  if (shape.size() > 1 || (shape.size() == 1 && shape[0] < 1)) {
    fail<ValueError>(where, "class_weight needs targets of shape (), (1,) or (classes,) for a sample; got shape {}",
                     shape);
  }
  return ClassWeighted(data.source_, target, weights);
}

}  // namespace mezzo
