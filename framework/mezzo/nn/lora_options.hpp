#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/any.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// Options of Layer::enable_lora().
struct LoraOptions {
  /// Regular expression (RE2 syntax) for paths of layers: those that contain a match get adapters; "": all that can
  /// have them.
  std::string targets{};
  std::int64_t rank = 0;                          ///< required; columns of A and rows of B
  std::optional<double> alpha{};                  ///< the product of A and B counts alpha / rank; default: rank
  double dropout = 0;                             ///< rate of elements of the input of A that training drops
  bool use_rslora = false;                        ///< true: the product counts alpha / sqrt(rank)
  Any<Initializer> a_initializer = "he_uniform";  ///< initial A (in, rank)
  Any<Initializer> b_initializer = "zeros";       ///< initial B (rank, out)
  std::string name = "default";                   ///< name of the adapters: letters, digits, "_" and "-"
};

}  // namespace mezzo
