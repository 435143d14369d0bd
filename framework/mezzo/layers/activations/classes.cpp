#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/activations/activation.hpp>
#include <mezzo/layers/activations/elu.hpp>
#include <mezzo/layers/activations/gelu.hpp>
#include <mezzo/layers/activations/leaky_relu.hpp>
#include <mezzo/layers/activations/prelu.hpp>
#include <mezzo/layers/activations/relu.hpp>
#include <mezzo/layers/activations/softmax.hpp>

namespace mezzo {

static void describe(Fields& fields, ActivationOptions& options) { fields("activation", options.activation); }

static void describe(Fields& fields, ELUOptions& options) { fields("alpha", options.alpha); }

static void describe(Fields& fields, GELUOptions& options) { fields("approximate", options.approximate); }

static void describe(Fields& fields, LeakyReLUOptions& options) { fields("negative_slope", options.negative_slope); }

static void describe(Fields& fields, PReLUOptions& options) {
  fields("alpha_initializer", options.alpha_initializer);
  fields("alpha_regularizer", options.alpha_regularizer);
  fields("alpha_constraint", options.alpha_constraint);
  fields("shared_axes", options.shared_axes);
}

static void describe(Fields& fields, ReLUOptions& options) {
  fields("max_value", options.max_value);
  fields("negative_slope", options.negative_slope);
  fields("threshold", options.threshold);
}

static void describe(Fields& fields, SoftmaxOptions& options) { fields("axis", options.axis); }

std::vector<detail::SavedClass<Layer>> activation_layer_classes() {
  return {detail::saved_layer<Activation, ActivationOptions>("Activation"),
          detail::saved_layer<ELU, ELUOptions>("ELU"),
          detail::saved_layer<GELU, GELUOptions>("GELU"),
          detail::saved_layer<LeakyReLU, LeakyReLUOptions>("LeakyReLU"),
          detail::saved_layer<PReLU, PReLUOptions>("PReLU"),
          detail::saved_layer<ReLU, ReLUOptions>("ReLU"),
          detail::saved_layer<Softmax, SoftmaxOptions>("Softmax")};
}

}  // namespace mezzo
