#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/wrapper.hpp>
#include <mezzo/nn/positional.hpp>

namespace mezzo {

struct TimeDistributedOptions {
  Any<Layer> layer{};                       ///< required; a layer of one input
  Any<Regularizer> activity_regularizer{};  ///< penalty of the output, divided by the batch size
  std::string name{};     ///< name of the layer; "": automatic ("time_distributed", "time_distributed_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Applies a layer to each step of a sequence: (batch, steps, ...) becomes (batch, steps, ...). The layer is called
/// once, on (batch * steps, ...); layers that compute with the whole batch, such as BatchNormalization, see all steps
/// of it.
class MEZZO_API TimeDistributed : public Wrapper {
 public:
  /// A ValueError without a layer.
  explicit TimeDistributed(const TimeDistributedOptions& options = {});

  /// Positional: `TimeDistributed(Dense(3))`.
  template <class L, std::enable_if_t<std::is_base_of_v<Layer, L>, int> = 0>
  explicit TimeDistributed(const L& layer, TimeDistributedOptions options = {})
      : TimeDistributed(with_layer(Any<Layer>(layer), std::move(options))) {}

  /// Builds the layer for one step.
  void build(const Shape& input) override;
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  static TimeDistributedOptions with_layer(Any<Layer> layer, TimeDistributedOptions options);
};

}  // namespace mezzo
