#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/model/sequential.hpp>

namespace mezzo {

struct UNetOptions {
  std::int64_t n_channels = 3;  ///< channels of the images, at least 1
  std::int64_t n_classes = 0;   ///< required; channels of the output, at least 1
  bool bilinear = false;        ///< true: upsamples by bilinear interpolation in place of transposed convolutions
  std::int64_t width = 64;      ///< channels of the first block, at least 1; an even number if bilinear
  std::string name{};           ///< name of the model; "": automatic
  Policy dtype{};               ///< precision policy; default: the policy of the Trainer or the global one
};

/// U-Net for segmentation (Ronneberger et al., 2015, arXiv 1505.04597): float images (batch, height, width, n_channels)
/// to logits (batch, height, width, n_classes). Structure and names in weight files are those of milesial's
/// Pytorch-UNet: each block has two padded convolutions with batch normalization, so the output has the size of the
/// image. Initial values are torch's. Bilinear interpolation aligns corners. Height and width are at least 16; where
/// they are not multiples of 16, upsampled maps are padded with zeros to the size of the maps that they are joined
/// with.
///
/// Layers: inc, down1 to down4, up1 to up4, outc.
class MEZZO_API UNet : public Model {
 public:
  /// A ValueError for n_channels, n_classes or a width below 1, or an odd width with `bilinear`.
  explicit UNet(UNetOptions options);

 protected:
  Value call(const Value& x) override;

 private:
  UNetOptions options_;
  Sequential inc_, outc_;
  std::vector<Sequential> down_;
  std::vector<Any<Layer>> up_;
};

}  // namespace mezzo
