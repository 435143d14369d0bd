#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Sizes and rates of a ViT, with torchvision's names and the defaults of vit_b_16. All sizes are at least 1.
struct ViTOptions {
  std::int64_t image_size = 224;  ///< height and width of images, in pixels
  std::int64_t patch_size = 16;   ///< height and width of patches, in pixels; divides image_size
  std::int64_t num_layers = 12;   ///< number of transformer layers
  std::int64_t num_heads = 12;    ///< number of heads; divides hidden_dim
  std::int64_t hidden_dim = 768;  ///< size of hidden states
  std::int64_t mlp_dim = 3072;    ///< size of the hidden layer of each MLP
  double dropout = 0;             ///< dropout rate of hidden states, in [0, 1)
  double attention_dropout = 0;   ///< dropout rate of attention weights, in [0, 1)
  std::int64_t classes = 1000;    ///< size of the output
  bool include_top = true;        ///< false: no classifier; the output is that of `ln`, or as `pooling` says
  std::string pooling{};  ///< without include_top: "token", "avg": that of the class token, or the mean of others
  std::string name{};     ///< name of the model; "": automatic
  Policy dtype{};         ///< precision policy; default: the policy of the Trainer or the global one
};

/// Vision transformer (Dosovitskiy et al., 2020, arXiv 2010.11929) with torchvision's structure, names and initial
/// values: float images (batch, image_size, image_size, channels) to logits (batch, classes). A ShapeError for images
/// of another size. The epsilon of layer normalizations is 1e-6, as in torchvision. Weights: class_token (1, 1,
/// hidden_dim), pos_embedding (1, patches + 1, hidden_dim). Layers: conv_proj, layer0, layer1, ... (ln_1,
/// self_attention, ln_2, linear_1, linear_2), ln, head.
///
/// Without include_top the output is (batch, patches + 1, hidden_dim), the class token's first, or with pooling (batch,
/// hidden_dim). load_weights() then ignores the classifier of a file. ViTModel has Hugging Face's outputs.
class MEZZO_API ViT : public Model {
 public:
  /// A ValueError for a size below 1, if patch_size doesn't divide image_size, or if num_heads doesn't divide
  /// hidden_dim, or for a pooling beside include_top; a NameError for an unknown pooling.
  explicit ViT(ViTOptions options = {});

  void build(const Shape& input) override;

  /// Options given to the constructor.
  const ViTOptions& options() const { return options_; }

 protected:
  Value call(const Value& x) override;

 private:
  std::vector<Any<Layer>> encoder_layers();

  ViTOptions options_;
  Variable class_token_{"class_token"};
  Variable pos_embedding_{"pos_embedding"};
  Conv2D conv_proj_;
  Dropout dropout_;
  std::vector<Any<Layer>> layers_;
  LayerNormalization ln_;
  std::optional<Dense> head_;
};

/// @name Networks of the paper
/// Used as `vit_b_16({.classes = 37})`. Each function overwrites the sizes of the network in its options. Numbers of
/// weights are for images of 224 x 224 x 3 and 1000 classes.
/// @{
MEZZO_API ViT vit_b_16(ViTOptions rest = {});  ///< 12 layers of 768, 12 heads, patches of 16 x 16: 86,567,656 weights
MEZZO_API ViT vit_b_32(ViTOptions rest = {});  ///< 12 layers of 768, 12 heads, patches of 32 x 32: 88,224,232 weights
MEZZO_API ViT vit_l_16(ViTOptions rest = {});  ///< 24 layers of 1024, 16 heads, patches of 16 x 16: 304,326,632 weights
MEZZO_API ViT vit_l_32(ViTOptions rest = {});  ///< 24 layers of 1024, 16 heads, patches of 32 x 32: 306,535,400 weights
MEZZO_API ViT vit_h_14(ViTOptions rest = {});  ///< 32 layers of 1280, 16 heads, patches of 14 x 14: 632,045,800 weights
/// @}

}  // namespace mezzo
