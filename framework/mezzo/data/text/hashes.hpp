#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mezzo::detail {

/// FarmHash's Fingerprint64, the hash of TensorFlow's to_hash_bucket_fast. The arithmetic is defined only by code; its
/// source is FarmHash (Geoff Pike, Google, 2014; MIT licence).
std::uint64_t farm_hash(const std::string& text);

/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012), the hash of TensorFlow's
/// to_hash_bucket_strong.
std::uint64_t sip_hash(const std::string& text, const std::array<std::uint64_t, 2>& key);

/// Throws a ValueError that starts with `where` for a salt of more than two numbers.
void check_salt(const std::vector<std::int64_t>& salt, const std::string& where);

/// farm_hash() without salt, else sip_hash() with its number twice, or its two numbers.
std::uint64_t salted_hash(const std::string& text, const std::vector<std::int64_t>& salt);

}  // namespace mezzo::detail
