#include <mezzo/initializers/classes.hpp>

#include <mezzo/initializers/constant.hpp>
#include <mezzo/initializers/identity.hpp>
#include <mezzo/initializers/orthogonal.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/truncated_normal.hpp>
#include <mezzo/initializers/variance_scaling.hpp>
#include <mezzo/nn/saved_by.hpp>

namespace mezzo {

static void describe(Fields& fields, OrthogonalOptions& options) {
  fields("gain", options.gain);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomNormalOptions& options) {
  fields("mean", options.mean);
  fields("stddev", options.stddev);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomUniformOptions& options) {
  fields("minval", options.minval);
  fields("maxval", options.maxval);
  fields("seed", options.seed);
}

static void describe(Fields& fields, TruncatedNormalOptions& options) {
  fields("mean", options.mean);
  fields("stddev", options.stddev);
  fields("seed", options.seed);
}

static void describe(Fields& fields, VarianceScalingOptions& options) {
  fields("scale", options.scale);
  fields("mode", options.mode);
  fields("distribution", options.distribution);
  fields("seed", options.seed);
}

static void describe(Fields& fields, SeedOptions& options) { fields("seed", options.seed); }

namespace {

struct ConstantConfig {
  double value = 0;
  std::optional<Tensor> values{};
};
void describe(Fields& fields, ConstantConfig& config) {
  fields("value", config.value);
  fields("values", config.values);
}

struct IdentityConfig {
  double gain = 1;
};
void describe(Fields& fields, IdentityConfig& config) { fields("gain", config.gain); }

/// A VarianceScaling whose scale, mode and distribution are fixed.
template <class I>
detail::SavedClass<Initializer> seeded(const char* name) {
  return detail::saved_by<Initializer, I, SeedOptions>(
      name, [](const I& object) { return SeedOptions{object.options().seed}; },
      [](const SeedOptions& options) { return I(options); });
}

}  // namespace

std::vector<detail::SavedClass<Initializer>> initializer_classes() {
  using detail::saved_by;
  using detail::saved_class;
  return {saved_by<Initializer, Constant, ConstantConfig>(
              "Constant",
              [](const Constant& object) {
                return ConstantConfig{object.value(), object.values()};
              },
              [](const ConstantConfig& config) {
                return config.values ? Constant(*config.values) : Constant(config.value);
              }),
          saved_by<Initializer, IdentityInitializer, IdentityConfig>(
              "Identity", [](const IdentityInitializer& object) { return IdentityConfig{object.gain()}; },
              [](const IdentityConfig& config) { return IdentityInitializer(config.gain); }),
          detail::saved_plain<Initializer, Ones>("Ones"),
          detail::saved_plain<Initializer, Zeros>("Zeros"),
          saved_class<Orthogonal, OrthogonalOptions, Initializer>("Orthogonal"),
          saved_class<RandomNormal, RandomNormalOptions, Initializer>("RandomNormal"),
          saved_class<RandomUniform, RandomUniformOptions, Initializer>("RandomUniform"),
          saved_class<TruncatedNormal, TruncatedNormalOptions, Initializer>("TruncatedNormal"),
          saved_class<VarianceScaling, VarianceScalingOptions, Initializer>("VarianceScaling"),
          seeded<GlorotNormal>("GlorotNormal"),
          seeded<GlorotUniform>("GlorotUniform"),
          seeded<HeNormal>("HeNormal"),
          seeded<HeUniform>("HeUniform"),
          seeded<LecunNormal>("LecunNormal"),
          seeded<LecunUniform>("LecunUniform")};
}

}  // namespace mezzo
