#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/reshaping/cropping1d.hpp>
#include <mezzo/layers/reshaping/cropping2d.hpp>
#include <mezzo/layers/reshaping/cropping3d.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/layers/reshaping/permute.hpp>
#include <mezzo/layers/reshaping/repeat_vector.hpp>
#include <mezzo/layers/reshaping/reshape.hpp>
#include <mezzo/layers/reshaping/up_sampling1d.hpp>
#include <mezzo/layers/reshaping/up_sampling2d.hpp>
#include <mezzo/layers/reshaping/up_sampling3d.hpp>
#include <mezzo/layers/reshaping/zero_padding1d.hpp>
#include <mezzo/layers/reshaping/zero_padding2d.hpp>
#include <mezzo/layers/reshaping/zero_padding3d.hpp>

namespace mezzo {

static void describe_margins(Fields& fields, const char* name, detail::Margins& margins) {
  Shape numbers = margins.numbers();
  fields(name, numbers);
  if (numbers != margins.numbers()) margins = detail::Margins::of(numbers);
}

static void describe(Fields& fields, CroppingOptions& options) {
  describe_margins(fields, "cropping", options.cropping);
}

static void describe(Fields& fields, Cropping2DOptions& options) {
  describe_margins(fields, "cropping", options.cropping);
}

static void describe(Fields&, FlattenOptions&) {}

static void describe(Fields& fields, PermuteOptions& options) { fields("dims", options.dims); }

static void describe(Fields& fields, RepeatVectorOptions& options) { fields("n", options.n); }

static void describe(Fields& fields, ReshapeOptions& options) { fields("target_shape", options.target_shape); }

static void describe(Fields& fields, UpSamplingOptions& options) { fields("size", options.size); }

static void describe(Fields& fields, UpSampling2DOptions& options) {
  fields("size", options.size);
  fields("interpolation", options.interpolation);
}

static void describe(Fields& fields, ZeroPaddingOptions& options) {
  describe_margins(fields, "padding", options.padding);
}

std::vector<detail::SavedClass<Layer>> reshaping_layer_classes() {
  return {detail::saved_layer<Cropping1D, CroppingOptions>("Cropping1D"),
          detail::saved_layer<Cropping2D, Cropping2DOptions>("Cropping2D"),
          detail::saved_layer<Cropping3D, CroppingOptions>("Cropping3D"),
          detail::saved_layer<Flatten, FlattenOptions>("Flatten"),
          detail::saved_layer<Permute, PermuteOptions>("Permute"),
          detail::saved_layer<RepeatVector, RepeatVectorOptions>("RepeatVector"),
          detail::saved_layer<Reshape, ReshapeOptions>("Reshape"),
          detail::saved_layer<UpSampling1D, UpSamplingOptions>("UpSampling1D"),
          detail::saved_layer<UpSampling2D, UpSampling2DOptions>("UpSampling2D"),
          detail::saved_layer<UpSampling3D, UpSamplingOptions>("UpSampling3D"),
          detail::saved_layer<ZeroPadding1D, ZeroPaddingOptions>("ZeroPadding1D"),
          detail::saved_layer<ZeroPadding2D, ZeroPaddingOptions>("ZeroPadding2D"),
          detail::saved_layer<ZeroPadding3D, ZeroPaddingOptions>("ZeroPadding3D")};
}

}  // namespace mezzo
