#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Options of Sequential.
struct SequentialOptions {
  std::string name{};  ///< for error texts and paths; "": none
  Policy dtype{};      ///< policy of the layers without one of their own; not given: inherited
};

/// A model that applies layers one after another. With an Input as its first element it is built at once; an Input
/// elsewhere is a ValueError. Copies share their layers, also those that are added later.
class MEZZO_API Sequential final : public Model {
 public:
  /// Layers in the order of the computation.
  Sequential(std::initializer_list<Any<Layer>> layers, const SequentialOptions& options = {})
      : Sequential(std::vector<Any<Layer>>(layers), options) {}

  /// Makes `Sequential({model})` a model of one layer. Otherwise clang calls the copy constructor (CWG 2137).
  Sequential(std::initializer_list<Sequential> layers, const SequentialOptions& options = {})
      : Sequential(std::vector<Any<Layer>>(layers.begin(), layers.end()), options) {}
  explicit Sequential(std::vector<Any<Layer>> layers, const SequentialOptions& options = {});

  /// A model without layers, to be filled by add(). A call before that is a ValueError.
  explicit Sequential(const SequentialOptions& options = {});

  /// Appends a layer, or an Input as the first one. After the first call the new layer is built at the next one (at
  /// once if the model has an Input), and the optimizer state of earlier training is discarded; compile() holds. A
  /// ValueError for an Input behind other layers, a NameError for a name that another layer has. The model is unchanged
  /// then.
  void add(const Any<Layer>& layer);

  /// Removes the last layer and returns it, with its weights. Discards the optimizer state. A ValueError if there is
  /// none.
  Any<Layer> pop();

  /// Layers without the Input.
  const std::vector<Any<Layer>>& layers() const { return content_->layers; }

 protected:
  Value call(const Value& x) override;
  Any<Layer> find_layer(const detail::LayerState& state) const override;

 private:
  /// State that copies share.
  struct Content {
    struct Blank {};
    Content() = default;
    explicit Content(Blank) {}
    void copy_from(const Content& other) { *this = other; }

    std::vector<Any<Layer>> layers;
    Value input;  ///< symbol of the Input; undefined if there is none
  };

  friend struct detail::NamedLayers;

  /// Sets the layers of a model without any. The first may be an Input.
  void assign_layers(std::vector<Any<Layer>> layers);

  /// Describes the layers in the state, for configs.
  void note_layout();

  /// Discards all state that depends on the layers, and builds the model again if it has an Input.
  void renew();

  detail::Shared<Content> content_{std::in_place};
};

}  // namespace mezzo
