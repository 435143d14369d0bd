#pragma once

/// Values of the metadata entry "format" of safetensors files that have weights beside states of a training. The
/// weights' names begin with "model.".
namespace mezzo::detail::file_formats {

constexpr const char* checkpoint = "mezzo_checkpoint";  ///< training/checkpoints
constexpr const char* loop = "mezzo_loop";              ///< training/custom_loops
constexpr const char* model = "mezzo_model";            ///< training/model

}  // namespace mezzo::detail::file_formats
