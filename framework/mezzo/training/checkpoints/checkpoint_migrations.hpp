#pragma once
#include <map>
#include <string>

#include <mezzo/io/safetensors.hpp>

namespace mezzo::detail {

/// Changes the metadata of a checkpoint from one format version to the next one.
using Migration = void (*)(Metadata& metadata);

/// Migrations by the version that they start from: one for each version before checkpoint_format::version.
const std::map<int, Migration>& checkpoint_migrations();

/// Metadata of a checkpoint in the newest format. A ValueError if format_version is not a valid version, or newer than
/// this program supports.
Metadata migrated(Metadata metadata);

}  // namespace mezzo::detail
