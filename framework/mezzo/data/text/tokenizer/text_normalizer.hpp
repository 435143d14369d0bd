#pragma once
#include <memory>

#include <mezzo/data/text/tokenizer/aligned_text.hpp>

namespace mezzo::detail {

/// Changes a text before it is split, and keeps the alignment with the original text. Thread-safe.
class Normalizer {
 public:
  Normalizer() = default;
  Normalizer(const Normalizer&) = delete;
  Normalizer& operator=(const Normalizer&) = delete;
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

}  // namespace mezzo::detail
