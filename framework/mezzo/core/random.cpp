#include <mezzo/core/random.hpp>

#include <atomic>

namespace mezzo {
namespace {

std::atomic<std::uint64_t> current_seed{0};
std::atomic<std::uint64_t> streams{0};

std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

std::uint64_t split_mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

void seed_everything(std::uint64_t seed) {
  current_seed = seed;
  streams = 0;
}

std::uint64_t seed() { return current_seed; }

std::uint64_t detail::next_stream() { return streams++; }

double detail::next_seed() {
  constexpr int bits_beyond_double = 11;  // of 64
  return static_cast<double>(mix(seed(), next_stream()) >> bits_beyond_double);
}

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter, std::uint64_t stream) {
  std::array<std::uint32_t, 4> x{low_word(counter), high_word(counter), low_word(stream), high_word(stream)};
  std::uint32_t k0 = low_word(key);
  std::uint32_t k1 = high_word(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * x[2];
    x = {high_word(b) ^ x[1] ^ k0, low_word(b), high_word(a) ^ x[3] ^ k1, low_word(a)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return x;
}

std::uint64_t detail::mix(std::uint64_t a, std::uint64_t b) { return split_mix(split_mix(a) + b); }

std::uint64_t detail::key_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace mezzo
