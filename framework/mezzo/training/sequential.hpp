#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/model.hpp>

namespace mezzo {

/// Options of Sequential.
struct SequentialOptions {
  std::string name{};  ///< for error texts and paths; "": none
  Policy dtype{};      ///< policy of the layers without one of their own; not given: inherited
};

/// A model that applies layers one after another. With an Input as its first element it is built at once; an Input
/// elsewhere is a ValueError.
class MEZZO_API Sequential final : public Model {
 public:
  Sequential(std::initializer_list<Any<Layer>> layers, const SequentialOptions& options = {})
      : Sequential(std::vector<Any<Layer>>(layers), options) {}

  /// Makes `Sequential({model})` a model of one layer. Clang would call the copy constructor otherwise (CWG 2137).
  Sequential(std::initializer_list<Sequential> layers, const SequentialOptions& options = {})
      : Sequential(std::vector<Any<Layer>>(layers.begin(), layers.end()), options) {}
  explicit Sequential(std::vector<Any<Layer>> layers, const SequentialOptions& options = {});

  /// Layers without the Input.
  const std::vector<Any<Layer>>& layers() const { return layers_; }

 protected:
  Value call(const Value& x) override;

 private:
  std::vector<Any<Layer>> layers_;
};

}  // namespace mezzo
