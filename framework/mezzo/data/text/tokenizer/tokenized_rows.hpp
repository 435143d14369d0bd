#pragma once
#include <mezzo/data/text/encode_options.hpp>
#include <mezzo/data/text/tokenizer/pipeline.hpp>

namespace mezzo::detail {

/// Truncation and padding of a tokenizer; null for none.
struct RowLengths {
  const TruncationOptions* truncation = nullptr;
  const PaddingOptions* padding = nullptr;
};

/// Encodes texts to rows of one length. Throws a ValueError that starts with `where` for invalid options.
Encoding encode_rows(const TokenizerPipeline& pipeline, const std::vector<std::string>& texts,
                     const EncodeOptions& options, const RowLengths& lengths, const std::string& where);

}  // namespace mezzo::detail
