#include <mezzo/data/text/hashes.hpp>

#include <bit>
#include <cstring>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

using Word = std::uint64_t;

// The three odd multipliers that define FarmHash.
constexpr Word prime_0 = 0xc3a5c85c97cb3127, prime_1 = 0xb492b66fbe98f273, prime_2 = 0x9ae16a3b2f90404f;

// Little-endian numbers in a text.
class HashedBytes {
 public:
  explicit HashedBytes(const std::string& text) : data_(text.data()), size_(text.size()) {}

  std::size_t size() const { return size_; }
  Word byte(std::size_t at) const { return static_cast<unsigned char>(data_[at]); }
  Word word(std::size_t at) const { return number<Word>(at); }
  Word half_word(std::size_t at) const { return number<std::uint32_t>(at); }
  Word word_before_end(std::size_t distance) const { return word(size_ - distance); }

 private:
  template <class N>
  N number(std::size_t at) const {
    N out = 0;
    std::memcpy(&out, data_ + at, sizeof out);
    return out;
  }

  const char* data_;
  std::size_t size_;
};

Word fold_high_bits(Word x) { return x ^ (x >> 47U); }

// Hash of two words.
Word combine(Word first, Word second, Word multiplier) {
  const Word once = fold_high_bits((first ^ second) * multiplier);
  return fold_high_bits((second ^ once) * multiplier) * multiplier;
}

struct WordPair {
  Word first, second;
};

// Mixes four words into two.
WordPair spread(Word a, Word b, Word c, Word d, Word offset) {
  return {std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + offset, 18) + c};
}

Word hash_up_to_3(const HashedBytes& text) {
  const std::size_t size = text.size();
  if (size == 0) return prime_2;
  const Word front = text.byte(0) + (text.byte(size / 2) << 8U), back = size + (text.byte(size - 1) << 2U);
  return fold_high_bits((front * prime_2) ^ (back * prime_0)) * prime_2;
}

Word hash_4_to_16(const HashedBytes& text, Word multiplier) {
  const std::size_t size = text.size();
  if (size < 8) return combine(size + (text.half_word(0) << 3U), text.half_word(size - 4), multiplier);
  const Word front = text.word(0) + prime_2, back = text.word_before_end(8);
  return combine(std::rotr(back, 37) * multiplier + front, (std::rotr(front, 25) + back) * multiplier, multiplier);
}

// The two halves of up to 64 bytes may overlap: words are counted from both ends.
Word hash_17_to_64(const HashedBytes& text, Word multiplier) {
  const bool is_long = text.size() > 32;
  const Word front = text.word(0) * (is_long ? prime_2 : prime_1);
  const WordPair outer =
      spread(front, text.word(8), text.word_before_end(8) * multiplier, text.word_before_end(16) * prime_2, prime_2);
  const Word hash = combine(outer.first, outer.second, multiplier);
  if (!is_long) return hash;
  const WordPair inner =
      spread(text.word(16) * multiplier, text.word(24), (outer.first + text.word_before_end(32)) * multiplier,
             (hash + text.word_before_end(24)) * multiplier, front);
  return combine(inner.first, inner.second, multiplier);
}

// State of a text of more than 64 bytes, which takes 64 bytes at a time.
class LongHash {
 public:
  explicit LongHash(const HashedBytes& text) : text_(text) {
    constexpr Word seed = 81;
    sum_ = seed * prime_2 + text.word(0);
    turning_ = seed * prime_1 + 113;
    carried_ = fold_high_bits(turning_ * prime_2 + 113) * prime_2;
  }

  // The last block ends with the text, so that it may overlap the one before it.
  Word finish() {
    const std::size_t size = text_.size(), whole = (size - 1) / 64 * 64;
    for (std::size_t at = 0; at < whole; at += 64) take(at, prime_1, 1);
    const Word multiplier = prime_1 + 2 * (carried_ & 0xffU);
    back_.first += size - 1 - whole;
    front_.first += back_.first;
    back_.first += front_.first;
    take(size - 64, multiplier, 9);
    return combine(combine(front_.first, back_.first, multiplier) + fold_high_bits(turning_) * prime_0 + carried_,
                   combine(front_.second, back_.second, multiplier) + sum_, multiplier);
  }

 private:
  void take(std::size_t at, Word multiplier, Word weight) {
    const Word next = std::rotr(sum_ + turning_ + front_.first + text_.word(at + 8), 37) * multiplier;
    turning_ = std::rotr(turning_ + front_.second + text_.word(at + 48), 42) * multiplier;
    turning_ += weight * front_.first + text_.word(at + 40);
    sum_ = std::rotr(carried_ + back_.first, 33) * multiplier;
    carried_ = next ^ (weight * back_.second);
    const Word mixed = carried_ + back_.first;
    front_ = half_block(at, front_.second * multiplier, mixed);
    back_ = half_block(at + 32, sum_ + back_.second, turning_ + text_.word(at + 16));
  }

  // Hash of 32 bytes, cheap and weak, from two start values.
  WordPair half_block(std::size_t at, Word first, Word second) const {
    const Word begun = first + text_.word(at), last = text_.word(at + 24);
    const Word middle = begun + text_.word(at + 8) + text_.word(at + 16);
    return {middle + last, begun + std::rotr(second + begun + last, 21) + std::rotr(middle, 44)};
  }

  HashedBytes text_;
  Word sum_ = 0, turning_ = 0, carried_ = 0;
  WordPair front_{0, 0}, back_{0, 0};
};

}  // namespace

std::uint64_t farm_hash(const std::string& text) {
  const HashedBytes bytes(text);
  if (bytes.size() < 4) return hash_up_to_3(bytes);
  const Word multiplier = prime_2 + 2 * bytes.size();
  if (bytes.size() <= 16) return hash_4_to_16(bytes, multiplier);
  return bytes.size() <= 64 ? hash_17_to_64(bytes, multiplier) : LongHash(bytes).finish();
}

std::uint64_t sip_hash(const std::string& text, const std::array<std::uint64_t, 2>& key) {
  // The text "somepseudorandomlygeneratedbytes" in four words, as the paper defines.
  std::array<Word, 4> state{key[0] ^ 0x736f6d6570736575U, key[1] ^ 0x646f72616e646f6dU, key[0] ^ 0x6c7967656e657261U,
                            key[1] ^ 0x7465646279746573U};
  // Adds one word to another and mixes the first one in.
  const auto add = [&](std::size_t to, std::size_t from, int bits) {
    state[to] += state[from];
    state[from] = std::rotl(state[from], bits) ^ state[to];
  };
  const auto stir = [&](int rounds) {
    for (; rounds > 0; --rounds) {
      add(0, 1, 13);
      add(2, 3, 16);
      state[0] = std::rotl(state[0], 32);
      add(2, 1, 17);
      add(0, 3, 21);
      state[2] = std::rotl(state[2], 32);
    }
  };
  const auto absorb = [&](Word word) {
    state[3] ^= word;
    stir(2);
    state[0] ^= word;
  };
  const HashedBytes bytes(text);
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) absorb(bytes.word(at));
  Word last = static_cast<Word>(bytes.size()) << 56U;
  for (std::size_t at = whole; at < bytes.size(); ++at) last |= bytes.byte(at) << (8 * (at - whole));
  absorb(last);
  state[2] ^= 0xffU;
  stir(4);
  return state[0] ^ state[1] ^ state[2] ^ state[3];
}

void check_salt(const std::vector<std::int64_t>& salt, const std::string& where) {
  if (salt.size() > 2) fail<ValueError>(where, "salt must be one or two numbers; got {}", salt.size());
}

std::uint64_t salted_hash(const std::string& text, const std::vector<std::int64_t>& salt) {
  if (salt.empty()) return farm_hash(text);
  return sip_hash(text, {static_cast<std::uint64_t>(salt.front()), static_cast<std::uint64_t>(salt.back())});
}

}  // namespace mezzo::detail
