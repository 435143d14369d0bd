#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ReshapeOptions {
  Shape target_shape{};  ///< shape of a sample of the output, without the batch axis; one size may be -1: the rest
  std::string name{};    ///< name of the layer; "": automatic ("reshape", "reshape_1")
  Policy dtype{};        ///< precision policy; default: the policy of the enclosing layer or model
};

/// Gives each sample another shape: (batch, ...) becomes (batch, *target_shape). A ShapeError unless the number of
/// elements is equal, and for an input with an unknown size besides the batch.
class MEZZO_API Reshape : public Layer {
 public:
  /// A ValueError for a size below -1 or several of -1.
  explicit Reshape(const ReshapeOptions& options = {});

  /// Positional: `Reshape({7, 7, 64})`.
  template <class S = Shape, detail::IfSame<S, Shape> = 0>
  explicit Reshape(const S& target_shape, const ReshapeOptions& options = {})
      : Reshape(detail::positional("Reshape", options.name, "target_shape", &ReshapeOptions::target_shape, target_shape,
                                   options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  Shape target_;
};

}  // namespace mezzo
