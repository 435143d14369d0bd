#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/regularization/activity_regularization.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/layers/regularization/noise.hpp>
#include <mezzo/layers/regularization/spatial_dropout.hpp>

namespace mezzo {

static void describe(Fields& fields, ActivityRegularizationOptions& options) {
  fields("l1", options.l1);
  fields("l2", options.l2);
}

static void describe(Fields& fields, AlphaDropoutOptions& options) {
  fields("rate", options.rate);
  fields("noise_shape", options.noise_shape);
  fields("seed", options.seed);
}

static void describe(Fields& fields, DropoutOptions& options) {
  fields("rate", options.rate);
  fields("noise_shape", options.noise_shape);
  fields("seed", options.seed);
}

static void describe(Fields& fields, GaussianDropoutOptions& options) {
  fields("rate", options.rate);
  fields("seed", options.seed);
}

static void describe(Fields& fields, GaussianNoiseOptions& options) {
  fields("stddev", options.stddev);
  fields("seed", options.seed);
}

static void describe(Fields& fields, SpatialDropoutOptions& options) {
  fields("rate", options.rate);
  fields("seed", options.seed);
}

std::vector<detail::SavedClass<Layer>> regularization_layer_classes() {
  return {detail::saved_layer<ActivityRegularization, ActivityRegularizationOptions>("ActivityRegularization"),
          detail::saved_layer<AlphaDropout, AlphaDropoutOptions>("AlphaDropout"),
          detail::saved_layer<Dropout, DropoutOptions>("Dropout"),
          detail::saved_layer<GaussianDropout, GaussianDropoutOptions>("GaussianDropout"),
          detail::saved_layer<GaussianNoise, GaussianNoiseOptions>("GaussianNoise"),
          detail::saved_layer<SpatialDropout1D, SpatialDropoutOptions>("SpatialDropout1D"),
          detail::saved_layer<SpatialDropout2D, SpatialDropoutOptions>("SpatialDropout2D"),
          detail::saved_layer<SpatialDropout3D, SpatialDropoutOptions>("SpatialDropout3D")};
}

}  // namespace mezzo
