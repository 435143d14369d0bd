#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/layers/conv2d.hpp>
#include <mezzo/layers/dense.hpp>
#include <mezzo/layers/dropout.hpp>
#include <mezzo/layers/layer_normalization.hpp>
#include <mezzo/training/model.hpp>

namespace mezzo {

/// Sizes and rates of a ViT, with torchvision's names; the defaults are those of vit_b_16.
struct ViTOptions {
  std::int64_t image_size = 224;  ///< height and width
  std::int64_t patch_size = 16;
  std::int64_t num_layers = 12;
  std::int64_t num_heads = 12;
  std::int64_t hidden_dim = 768;
  std::int64_t mlp_dim = 3072;
  double dropout = 0;
  double attention_dropout = 0;
  std::int64_t classes = 1000;  ///< size of the output
  std::string name{};
  Policy dtype{};
};

/// Vision transformer (Dosovitskiy et al., 2020, arXiv 2010.11929) with torchvision's structure, names and initial
/// values: images (batch, image_size, image_size, channels) of floats to logits (batch, classes). A ShapeError for
/// another size. Layer normalization has torchvision's epsilon, 1e-6. Weights: class_token (1, 1, hidden_dim),
/// pos_embedding (1, patches + 1, hidden_dim); layers: conv_proj, layer0, layer1, ... (ln_1, self_attention, ln_2,
/// linear_1, linear_2), ln, head.
class ViT : public Model {
 public:
  /// A ValueError for sizes below 1, and unless patch_size divides image_size and num_heads hidden_dim.
  explicit ViT(ViTOptions options = {});

  void build(const Shape& input) override;

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
  Dense head_;
};

/// @name The paper's networks
/// As `vit_b_16({.classes = 37})`; sizes of the network that are given are replaced. The numbers of weights are those
/// for images of 224 x 224 x 3 and 1000 classes.
/// @{
ViT vit_b_16(ViTOptions rest = {});  ///< 12 layers of 768, 12 heads, patches of 16 x 16: 86,567,656 weights
ViT vit_b_32(ViTOptions rest = {});  ///< 12 layers of 768, 12 heads, patches of 32 x 32: 88,224,232 weights
ViT vit_l_16(ViTOptions rest = {});  ///< 24 layers of 1024, 16 heads, patches of 16 x 16: 304,326,632 weights
ViT vit_l_32(ViTOptions rest = {});  ///< 24 layers of 1024, 16 heads, patches of 32 x 32: 306,535,400 weights
ViT vit_h_14(ViTOptions rest = {});  ///< 32 layers of 1280, 16 heads, patches of 14 x 14: 632,045,800 weights
/// @}

}  // namespace mezzo
