#include <mezzo/data/text/hashes.hpp>

#include <cstring>
#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

using Word = std::uint64_t;
using Pair = std::pair<Word, Word>;

constexpr Word k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

Word word_at(const char* s) {
  Word word = 0;
  std::memcpy(&word, s, sizeof word);
  return word;
}

Word half_at(const char* s) {
  std::uint32_t half = 0;
  std::memcpy(&half, s, sizeof half);
  return half;
}

Word right(Word x, unsigned bits) { return (x >> bits) | (x << (64 - bits)); }
Word left(Word x, unsigned bits) { return right(x, 64 - bits); }
Word shifted(Word x) { return x ^ (x >> 47U); }

Word two(Word u, Word v, Word factor) {
  const Word a = shifted((u ^ v) * factor);
  return shifted((v ^ a) * factor) * factor;
}

Word up_to_16(const char* s, std::size_t n) {
  const Word factor = k2 + n * 2;
  if (n >= 8) {
    const Word a = word_at(s) + k2, b = word_at(s + n - 8);
    return two(right(b, 37) * factor + a, (right(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return two(n + (half_at(s) << 3U), half_at(s + n - 4), factor);
  if (n == 0) return k2;
  const auto byte = [s](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(s[i])); };
  const std::uint32_t y = byte(0) + (byte(n >> 1U) << 8U);
  const std::uint32_t z = static_cast<std::uint32_t>(n) + (byte(n - 1) << 2U);
  return shifted((y * k2) ^ (z * k0)) * k2;
}

Word up_to_32(const char* s, std::size_t n) {
  const Word factor = k2 + n * 2, a = word_at(s) * k1, b = word_at(s + 8);
  const Word c = word_at(s + n - 8) * factor, d = word_at(s + n - 16) * k2;
  return two(right(a + b, 43) + right(c, 30) + d, a + right(b + k2, 18) + c, factor);
}

Word up_to_64(const char* s, std::size_t n) {
  const Word factor = k2 + n * 2, a = word_at(s) * k2, b = word_at(s + 8);
  const Word c = word_at(s + n - 8) * factor, d = word_at(s + n - 16) * k2;
  const Word y = right(a + b, 43) + right(c, 30) + d, z = two(y, a + right(b + k2, 18) + c, factor);
  const Word e = word_at(s + 16) * factor, f = word_at(s + 24);
  const Word g = (y + word_at(s + n - 32)) * factor, h = (z + word_at(s + n - 24)) * factor;
  return two(right(e + f, 43) + right(g, 30) + h, e + right(f + a, 18) + g, factor);
}

Pair weak(const char* s, Word a, Word b) {
  const Word last = word_at(s + 24);
  a += word_at(s);
  b = right(b + a + last, 21);
  const Word c = a;
  a += word_at(s + 8) + word_at(s + 16);
  b += right(a, 44);
  return {a + last, b + c};
}

/// State of the rounds over 64 bytes each; the last round has another factor.
struct Rounds {
  Word x, y, z;
  Pair v, w;

  void round(const char* s, Word factor, bool last) {
    x = right(x + y + v.first + word_at(s + 8), 37) * factor;
    y = right(y + v.second + word_at(s + 48), 42) * factor;
    x ^= w.second * (last ? 9 : 1);
    y += v.first * (last ? 9 : 1) + word_at(s + 40);
    z = right(z + w.first, 33) * factor;
    v = weak(s, v.second * factor, x + w.first);
    w = weak(s + 32, z + w.second, y + word_at(s + 16));
    std::swap(z, x);
  }
};

}  // namespace

std::uint64_t farm_hash(const std::string& text) {
  const std::size_t n = text.size();
  const char* s = text.data();
  if (n <= 16) return up_to_16(s, n);
  if (n <= 32) return up_to_32(s, n);
  if (n <= 64) return up_to_64(s, n);
  constexpr Word seed = 81;
  Rounds rounds{seed * k2 + word_at(s), seed * k1 + 113, 0, {0, 0}, {0, 0}};
  rounds.z = shifted(rounds.y * k2 + 113) * k2;
  const char* const end = s + (n - 1) / 64 * 64;
  for (; s != end; s += 64) rounds.round(s, k1, false);
  const Word factor = k1 + ((rounds.z & 0xffU) << 1U);
  rounds.w.first += (n - 1) & 63U;
  rounds.v.first += rounds.w.first;
  rounds.w.first += rounds.v.first;
  rounds.round(text.data() + n - 64, factor, true);
  return two(two(rounds.v.first, rounds.w.first, factor) + shifted(rounds.y) * k0 + rounds.z,
             two(rounds.v.second, rounds.w.second, factor) + rounds.x, factor);
}

std::uint64_t sip_hash(const std::string& text, const std::array<std::uint64_t, 2>& key) {
  Word v0 = key[0] ^ 0x736f6d6570736575U, v1 = key[1] ^ 0x646f72616e646f6dU;
  Word v2 = key[0] ^ 0x6c7967656e657261U, v3 = key[1] ^ 0x7465646279746573U;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = left(v1, 13) ^ v0;
      v3 = left(v3, 16) ^ v2;
      v0 = left(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = left(v1, 17) ^ v2;
      v3 = left(v3, 21) ^ v0;
      v2 = left(v2, 32);
    }
  };
  const auto take = [&](Word word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) take(word_at(text.data() + at));
  Word last = static_cast<Word>(text.size()) << 56U;
  for (std::size_t i = 0; at + i < text.size(); ++i) {
    last |= static_cast<Word>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  take(last);
  v2 ^= 0xffU;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

void check_salt(const std::vector<std::int64_t>& salt, const std::string& where) {
  if (salt.size() > 2) fail<ValueError>(where, "salt must be one or two numbers; got {}", salt.size());
}

std::uint64_t salted_hash(const std::string& text, const std::vector<std::int64_t>& salt) {
  if (salt.empty()) return farm_hash(text);
  return sip_hash(text, {static_cast<std::uint64_t>(salt.front()), static_cast<std::uint64_t>(salt.back())});
}

}  // namespace mezzo::detail
