#pragma once

namespace mezzo {
struct LlamaOptions;
}

namespace mezzo::detail {

class ConfigFields;

/// Keys of rotary embeddings: rope_theta and rope_scaling of transformers 4, which are written, or rope_parameters of
/// transformers 5.
void describe_rope(ConfigFields& fields, LlamaOptions& options);

}  // namespace mezzo::detail
