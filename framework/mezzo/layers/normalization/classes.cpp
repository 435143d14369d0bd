#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/describe_shared.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>
#include <mezzo/layers/normalization/group_normalization.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/normalization/rms_normalization.hpp>
#include <mezzo/layers/normalization/spectral_normalization.hpp>
#include <mezzo/layers/normalization/unit_normalization.hpp>

namespace mezzo {

static void describe(Fields& fields, BatchNormalizationOptions& options) {
  fields("axis", options.axis);
  fields("momentum", options.momentum);
  fields("epsilon", options.epsilon);
  fields("moving_mean_initializer", options.moving_mean_initializer);
  fields("moving_variance_initializer", options.moving_variance_initializer);
  describe_scale(fields, options);
  fields("synchronized", options.synchronized);
}

static void describe(Fields& fields, GroupNormalizationOptions& options) {
  fields("groups", options.groups);
  fields("axis", options.axis);
  fields("epsilon", options.epsilon);
  describe_scale(fields, options);
}

static void describe(Fields& fields, LayerNormalizationOptions& options) {
  fields("axis", options.axis);
  fields("epsilon", options.epsilon);
  describe_scale(fields, options);
}

static void describe(Fields& fields, RMSNormalizationOptions& options) {
  fields("axis", options.axis);
  fields("epsilon", options.epsilon);
}

static void describe(Fields& fields, SpectralNormalizationOptions& options) {
  fields("layer", options.layer);
  fields("power_iterations", options.power_iterations);
}

static void describe(Fields& fields, UnitNormalizationOptions& options) { fields("axis", options.axis); }

std::vector<detail::SavedClass<Layer>> normalization_layer_classes() {
  return {detail::saved_layer<BatchNormalization, BatchNormalizationOptions>("BatchNormalization"),
          detail::saved_layer<GroupNormalization, GroupNormalizationOptions>("GroupNormalization"),
          detail::saved_layer<LayerNormalization, LayerNormalizationOptions>("LayerNormalization"),
          detail::saved_layer<RMSNormalization, RMSNormalizationOptions>("RMSNormalization"),
          detail::saved_layer<SpectralNormalization, SpectralNormalizationOptions>("SpectralNormalization"),
          detail::saved_layer<UnitNormalization, UnitNormalizationOptions>("UnitNormalization")};
}

}  // namespace mezzo
