#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/pooling/adaptive_average_pooling1d.hpp>
#include <mezzo/layers/pooling/adaptive_average_pooling2d.hpp>
#include <mezzo/layers/pooling/adaptive_average_pooling3d.hpp>
#include <mezzo/layers/pooling/adaptive_max_pooling1d.hpp>
#include <mezzo/layers/pooling/adaptive_max_pooling2d.hpp>
#include <mezzo/layers/pooling/adaptive_max_pooling3d.hpp>
#include <mezzo/layers/pooling/average_pooling1d.hpp>
#include <mezzo/layers/pooling/average_pooling2d.hpp>
#include <mezzo/layers/pooling/average_pooling3d.hpp>
#include <mezzo/layers/pooling/global_average_pooling1d.hpp>
#include <mezzo/layers/pooling/global_average_pooling2d.hpp>
#include <mezzo/layers/pooling/global_average_pooling3d.hpp>
#include <mezzo/layers/pooling/global_max_pooling1d.hpp>
#include <mezzo/layers/pooling/global_max_pooling2d.hpp>
#include <mezzo/layers/pooling/global_max_pooling3d.hpp>
#include <mezzo/layers/pooling/max_pooling1d.hpp>
#include <mezzo/layers/pooling/max_pooling2d.hpp>
#include <mezzo/layers/pooling/max_pooling3d.hpp>

namespace mezzo {

template <class Options>
static void describe_pooling(Fields& fields, Options& options) {
  fields("pool_size", options.pool_size);
  fields("strides", options.strides);
  fields("padding", options.padding);
}

static void describe(Fields& fields, AdaptivePoolingOptions& options) { fields("output_size", options.output_size); }

static void describe(Fields& fields, GlobalAveragePooling1DOptions& options) { fields("keepdims", options.keepdims); }

static void describe(Fields& fields, GlobalPoolingOptions& options) { fields("keepdims", options.keepdims); }

static void describe(Fields& fields, PoolingOptions& options) { describe_pooling(fields, options); }
static void describe(Fields& fields, AveragePooling2DOptions& options) { describe_pooling(fields, options); }
static void describe(Fields& fields, MaxPooling2DOptions& options) { describe_pooling(fields, options); }

std::vector<detail::SavedClass<Layer>> pooling_layer_classes() {
  return {detail::saved_layer<AdaptiveAveragePooling1D, AdaptivePoolingOptions>("AdaptiveAveragePooling1D"),
          detail::saved_layer<AdaptiveAveragePooling2D, AdaptivePoolingOptions>("AdaptiveAveragePooling2D"),
          detail::saved_layer<AdaptiveAveragePooling3D, AdaptivePoolingOptions>("AdaptiveAveragePooling3D"),
          detail::saved_layer<AdaptiveMaxPooling1D, AdaptivePoolingOptions>("AdaptiveMaxPooling1D"),
          detail::saved_layer<AdaptiveMaxPooling2D, AdaptivePoolingOptions>("AdaptiveMaxPooling2D"),
          detail::saved_layer<AdaptiveMaxPooling3D, AdaptivePoolingOptions>("AdaptiveMaxPooling3D"),
          detail::saved_layer<AveragePooling1D, PoolingOptions>("AveragePooling1D"),
          detail::saved_layer<AveragePooling2D, AveragePooling2DOptions>("AveragePooling2D"),
          detail::saved_layer<AveragePooling3D, PoolingOptions>("AveragePooling3D"),
          detail::saved_layer<GlobalAveragePooling1D, GlobalAveragePooling1DOptions>("GlobalAveragePooling1D"),
          detail::saved_layer<GlobalAveragePooling2D, GlobalPoolingOptions>("GlobalAveragePooling2D"),
          detail::saved_layer<GlobalAveragePooling3D, GlobalPoolingOptions>("GlobalAveragePooling3D"),
          detail::saved_layer<GlobalMaxPooling1D, GlobalPoolingOptions>("GlobalMaxPooling1D"),
          detail::saved_layer<GlobalMaxPooling2D, GlobalPoolingOptions>("GlobalMaxPooling2D"),
          detail::saved_layer<GlobalMaxPooling3D, GlobalPoolingOptions>("GlobalMaxPooling3D"),
          detail::saved_layer<MaxPooling1D, PoolingOptions>("MaxPooling1D"),
          detail::saved_layer<MaxPooling2D, MaxPooling2DOptions>("MaxPooling2D"),
          detail::saved_layer<MaxPooling3D, PoolingOptions>("MaxPooling3D")};
}

}  // namespace mezzo
