#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include <mezzo/training/model.hpp>

namespace mezzo {

struct SequentialOptions {
  std::string name{};
  Policy dtype{};
};

/// Layers one after another. Begins with an Input to be built at once; an Input elsewhere is a ValueError.
class Sequential final : public Model {
 public:
  Sequential(std::initializer_list<Any<Layer>> layers, const SequentialOptions& options = {})
      : Sequential(std::vector<Any<Layer>>(layers), options) {}

  /// {Sequential} alone nests, in clang too, which would copy it (CWG 2137).
  Sequential(std::initializer_list<Sequential> layers, const SequentialOptions& options = {})
      : Sequential(std::vector<Any<Layer>>(layers.begin(), layers.end()), options) {}
  explicit Sequential(std::vector<Any<Layer>> layers, const SequentialOptions& options = {});

  const std::vector<Any<Layer>>& layers() const { return layers_; }

 protected:
  Value call(const Value& x) override;

 private:
  std::vector<Any<Layer>> layers_;
};

}  // namespace mezzo
