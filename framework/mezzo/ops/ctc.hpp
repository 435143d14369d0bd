#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Connectionist temporal classification (Graves et al., 2006): for each sequence, minus the log of the probability of
/// the target given its frames, summed over all alignments. Computed in double, as logarithms.
///
/// `target`: integer labels (batch, labels). `output`: logits (batch, frames, classes). `target_length`,
/// `output_length`: integers (batch,); labels and frames after these are ignored. `mask_index`: class of the blank.
/// Returns (batch,), float32, or float64 for float64. As in Keras on JAX, a target that needs more frames than
/// available costs about 1e5 for each missing frame. Throws a ShapeError or DTypeError for other arguments; a
/// ValueError for a mask_index outside of the classes, and, when it runs, for a label or length out of range.
MEZZO_API Value ctc_loss(const Value& target, const Value& output, const Value& target_length,
                         const Value& output_length, std::int64_t mask_index = 0);

/// Options of ctc_decode.
struct CTCDecodeOptions {
  std::string strategy = "greedy";  ///< "greedy", or "beam_search"
  std::int64_t beam_width = 100;    ///< number of prefixes that beam search keeps; not for "greedy"
  std::int64_t top_paths = 1;       ///< number of sequences that beam search returns, at most beam_width
  bool merge_repeated = true;       ///< false: equal labels of neighboring frames stay; only for "greedy"
  std::int64_t mask_index = 0;      ///< class of the blank
};

/// Result of ctc_decode.
struct CTCDecoded {
  Value sequences;  ///< int32 (paths, batch, frames): labels without blanks, then -1
  /// Greedy: (batch, 1), minus the sum of the largest logits. Beam search: (batch, paths), log-probabilities, best
  /// first; -infinity for paths that don't exist.
  Value scores;
};

/// Labels for logits (batch, frames, classes) and the numbers of frames (batch,), as keras.ops.ctc_decode. It runs on
/// the host and has no gradient; all sizes must be known. A sequence without frames has no labels and the score 0.
/// Throws a ValueError for options out of range or without effect, a ShapeError or DTypeError for other arguments.
MEZZO_API CTCDecoded ctc_decode(const Value& inputs, const Value& sequence_lengths,
                                const CTCDecodeOptions& options = {});

}  // namespace mezzo
