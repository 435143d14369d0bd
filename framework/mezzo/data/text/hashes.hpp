#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace mezzo::detail {

/// FarmHash Fingerprint64 (Pike, Google, 2014), the hash of TensorFlow's to_hash_bucket_fast.
std::uint64_t farm_hash(const std::string& text);

/// SipHash-2-4 (Aumasson and Bernstein, 2012), the hash of TensorFlow's to_hash_bucket_strong.
std::uint64_t sip_hash(const std::string& text, const std::array<std::uint64_t, 2>& key);

}  // namespace mezzo::detail
