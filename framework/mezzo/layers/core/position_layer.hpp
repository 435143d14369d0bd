#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Options of a call of a layer that depends on positions in a sequence.
struct PositionCallOptions {
  std::int64_t start_index = 0;    ///< position of the first element, at least 0; unused with `positions`
  Value positions{};               ///< position of each element: (steps,) or (batch, steps); default: 0, 1, 2, ...
  std::optional<bool> training{};  ///< as in CallOptions
};

namespace detail {
/// Base of layers that depend on positions in a sequence: `encoding(x, {.start_index = 8})`. As a layer of a Model, and
/// in `layer(Values)`, positions are the second input.
class MEZZO_API PositionLayer : public Layer {
 public:
  /// A ValueError for a negative start_index.
  Value operator()(const Value& x, const PositionCallOptions& options = {});
  Values operator()(const Values& xs, const CallOptions& options = {}) { return Layer::operator()(xs, options); }

  Values call_with(const std::string& arguments, const Values& xs, const CallOptions& options) override;

 protected:
  template <class Options>
  PositionLayer(const char* kind, const Options& options) : Layer(kind, options) {}

  Values call_many(const Values& xs) override;
  std::string call_arguments() const override;

  /// The result for one input; `positions` is undefined if they start at start_index.
  virtual Value call_at(const Value& x, const Value& positions, std::int64_t start_index) = 0;

 private:
  std::int64_t start_index_ = 0;  // value of the running call
};
}  // namespace detail

}  // namespace mezzo
