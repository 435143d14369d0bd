#include <mezzo/layers/core/lambda.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Lambda::Lambda(LambdaOptions options) : Layer("Lambda", options), options_(std::move(options)) {
  if (!options_.function.given()) fail<ValueError>(label(), "function is required; got none");
}

Values Lambda::call_many(const Values& xs) {
  if (options_.function.of_all()) return options_.function.of_all()(xs);
  if (xs.size() != 1) fail<ValueError>(label(), "takes one input (a function of a Value); got {}", xs.size());
  return {options_.function.of_one()(xs[0])};
}

}  // namespace mezzo
