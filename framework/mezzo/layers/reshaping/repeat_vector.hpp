#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct RepeatVectorOptions {
  std::int64_t n = 0;  ///< required; number of repetitions, at least 1
  std::string name{};  ///< name of the layer; "": automatic ("repeat_vector", "repeat_vector_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Repeats vectors: (batch, features) becomes (batch, n, features). A ShapeError for inputs of another rank.
class MEZZO_API RepeatVector : public Layer {
 public:
  /// A ValueError for n below 1.
  explicit RepeatVector(RepeatVectorOptions options = {});

  /// Positional: `RepeatVector(3)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit RepeatVector(I n, const RepeatVectorOptions& options = {})
      : RepeatVector(detail::positional("RepeatVector", options.name, "n", &RepeatVectorOptions::n,
                                        static_cast<std::int64_t>(n), options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  RepeatVectorOptions options_;
};

}  // namespace mezzo
