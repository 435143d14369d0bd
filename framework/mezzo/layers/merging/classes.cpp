#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/merging/add.hpp>
#include <mezzo/layers/merging/concatenate.hpp>
#include <mezzo/layers/merging/dot.hpp>
#include <mezzo/layers/merging/merging.hpp>
#include <mezzo/layers/merging/multiply.hpp>

namespace mezzo {

static void describe(Fields&, AddOptions&) {}

static void describe(Fields& fields, ConcatenateOptions& options) { fields("axis", options.axis); }

static void describe(Fields& fields, DotOptions& options) {
  fields("axes", options.axes);
  fields("normalize", options.normalize);
}

static void describe(Fields&, MergingOptions&) {}

static void describe(Fields&, MultiplyOptions&) {}

std::vector<detail::SavedClass<Layer>> merging_layer_classes() {
  return {detail::saved_layer<Add, AddOptions>("Add"),
          detail::saved_layer<Average, MergingOptions>("Average"),
          detail::saved_layer<Concatenate, ConcatenateOptions>("Concatenate"),
          detail::saved_layer<Dot, DotOptions>("Dot"),
          detail::saved_layer<Maximum, MergingOptions>("Maximum"),
          detail::saved_layer<Minimum, MergingOptions>("Minimum"),
          detail::saved_layer<Multiply, MultiplyOptions>("Multiply"),
          detail::saved_layer<Subtract, MergingOptions>("Subtract")};
}

}  // namespace mezzo
