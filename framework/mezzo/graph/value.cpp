#include <mezzo/graph/value.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/node.hpp>
#include <ostream>

namespace mezzo {

ShapeView Value::shape() const {
  return ShapeView(node_ ? node_->outputs[static_cast<std::size_t>(output_)].shape : data_.shape());
}

DType Value::dtype() const { return node_ ? node_->outputs[static_cast<std::size_t>(output_)].dtype : data_.dtype(); }

bool Value::symbolic() const { return node_ != nullptr && node_->results.empty(); }

Tensor Value::tensor() const {
  if (!defined_) fail<ValueError>("[Value]", "must hold an array or the output of an op; got an undefined Value");
  if (!node_) return data_;
  if (node_->results.empty()) {
    fail<ValueError>(node_->where,
                     "a symbolic Value (output of {}) has no numbers while the step is traced: log() it, or return it",
                     node_->op->name);
  }
  return node_->results[static_cast<std::size_t>(output_)];
}

bool Value::same_as(const Value& other) const {
  if (node_ || other.node_) return node_ == other.node_ && output_ == other.output_;
  if (!defined_ || !other.defined_) return defined_ == other.defined_;
  return data_.raw() == other.data_.raw() && data_.shape() == other.data_.shape() &&
         data_.dtype() == other.data_.dtype();
}

Value Value::across_border(bool crosses) const {
  Value copy = *this;
  copy.border_ = crosses;
  return copy;
}

Value Value::in_region(std::uint64_t region) const {
  Value copy = *this;
  copy.region_ = region;
  return copy;
}

Value Value::with_mask(const Value& mask) const {
  Value copy = *this;
  copy.mask_.reset();
  if (!mask.defined()) return copy;
  if (mask.dtype() != DType::boolean) fail<DTypeError>("[Value]", "a mask must be bool; got {}", mask.dtype());
  if (mask.shape().size() > shape().size()) {
    fail<ShapeError>("[Value]", "a mask must have at most the axes of its value, {}; got shape {}", shape(),
                     mask.shape());
  }
  Value plain = mask;
  plain.mask_.reset();
  copy.mask_ = std::make_shared<const Value>(std::move(plain));
  return copy;
}

std::ostream& operator<<(std::ostream& out, const Value& value) {
  if (!value.defined()) return out << "undefined";
  if (!value.symbolic()) return out << value.tensor();
  return out << "symbolic " << dtype_name(value.dtype()) << ' ' << to_string(value.shape());
}

}  // namespace mezzo
