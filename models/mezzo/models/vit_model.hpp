#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Sizes and rates of a ViTModel, with Hugging Face's names and the defaults of vit-base-patch16-224. All sizes are at
/// least 1.
struct ViTModelOptions {
  std::int64_t hidden_size = 768;           ///< size of hidden states
  std::int64_t num_hidden_layers = 12;      ///< number of transformer layers
  std::int64_t num_attention_heads = 12;    ///< number of heads; divides hidden_size
  std::int64_t intermediate_size = 3072;    ///< size of the hidden layer of each MLP
  std::string hidden_act = "gelu";          ///< activation of each MLP
  double hidden_dropout_prob = 0;           ///< dropout rate of hidden states, in [0, 1)
  double attention_probs_dropout_prob = 0;  ///< dropout rate of attention weights, in [0, 1)
  double initializer_range = 0.02;          ///< standard deviation of initial kernels and embeddings, at least 0
  double layer_norm_eps = 1e-12;            ///< epsilon of layer normalizations, at least 0
  std::int64_t image_size = 224;            ///< height and width of images, in pixels
  std::int64_t patch_size = 16;             ///< height and width of patches, in pixels; divides image_size
  std::int64_t num_channels = 3;            ///< channels of images
  bool qkv_bias = true;                     ///< true: projections to queries, keys and values add a bias
  std::int64_t pooler_output_size = 0;      ///< size of pooler_output; 0: hidden_size
  std::string pooler_act = "tanh";          ///< activation of the pooling layer
  bool add_pooling_layer = true;            ///< true: adds the output pooler_output
  std::string name{};                       ///< name of the model; "": automatic
  Policy dtype{};                           ///< precision policy; default: the policy of the Trainer or the global one
};

/// Vision transformer (Dosovitskiy et al., 2020, arXiv 2010.11929) with Hugging Face's structure and names: float
/// images (batch, image_size, image_size, num_channels) to last_hidden_state (batch, patches + 1, hidden_size), whose
/// first position is the class token's, and, with the pooling layer, pooler_output (batch, pooler_output_size). A
/// ShapeError for images of another size. ViT has torchvision's structure.
///
/// Weights: cls_token, position_embeddings. Layers: patch_embeddings, layer0, layer1, ... (layernorm_before, attention,
/// layernorm_after, intermediate, output), layernorm, pooler.
class MEZZO_API ViTModel : public Model {
 public:
  /// A ValueError for a size below 1, if patch_size doesn't divide image_size, or if the heads don't divide
  /// hidden_size; a NameError for an unknown activation.
  explicit ViTModel(ViTModelOptions options = {});

  void build(const Shape& input) override;

  /// Options given to the constructor.
  const ViTModelOptions& options() const { return options_; }

 protected:
  Values call_many(const Values& xs) override;

 private:
  std::vector<Any<Layer>> encoder_layers();

  ViTModelOptions options_;
  Variable cls_token_{"cls_token"};
  Variable position_embeddings_{"position_embeddings"};
  Conv2D patch_embeddings_;
  Dropout dropout_;
  std::vector<Any<Layer>> layers_;
  LayerNormalization layernorm_;
  std::vector<Dense> pooler_;  // empty without the pooling layer
};

struct ViTForImageClassificationOptions {
  ViTModelOptions vit{};        ///< options of the encoder, which has no pooling layer here
  std::int64_t num_labels = 2;  ///< number of classes, at least 1
  std::string name{};           ///< name of the model; "": automatic
  Policy dtype{};               ///< precision policy; default: the policy of the Trainer or the global one
};

/// ViTModel with a dense layer on the class token: images to logits (batch, num_labels). Layers: vit, classifier.
class MEZZO_API ViTForImageClassification : public Model {
 public:
  /// A ValueError for num_labels below 1, or as by ViTModel.
  explicit ViTForImageClassification(ViTForImageClassificationOptions options = {});

  /// Options given to the constructor.
  const ViTForImageClassificationOptions& options() const { return options_; }

  /// Encoder, to freeze it or to load its weights.
  ViTModel& vit() { return vit_; }

 protected:
  Value call(const Value& x) override;

 private:
  ViTForImageClassificationOptions options_;
  ViTModel vit_;
  Dense classifier_;
};

}  // namespace mezzo
