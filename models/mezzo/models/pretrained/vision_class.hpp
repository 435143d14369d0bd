#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {

/// Entry of a class M of models for images. `Arguments` holds its `options`, the `channels` of images, which no option
/// has, and further arguments of its constructor. model() makes a model of them, the static of() returns a model's.
template <class M, class Arguments>
PretrainedClass vision_class(const char* name, PretrainedFamily<Arguments> family) {
  auto out = entry_of<M>(name, family);
  out.make = [defaults = std::move(family.defaults), describe = family.describe](
                 ConfigFields& fields, const FromPretrainedOptions& given) -> Any<Model> {
    Arguments arguments = defaults;
    describe(fields, arguments);
    arguments.options.name = given.name;
    arguments.options.dtype = given.dtype;
    M model = arguments.model();
    model.build({1, 32, 32, arguments.channels});
    return model;
  };
  out.input = [](const Model&) -> Shape { return {1, 32, 32, 3}; };  // of a model that is built
  out.write = [describe = family.describe](const Model& model, ConfigFields& fields) {
    Arguments arguments = Arguments::of(static_cast<const M&>(model));
    arguments.channels = model.named_weights().front().second.shape()[2];
    describe(fields, arguments);
  };
  return out;
}

}  // namespace mezzo::detail
