#include <mezzo/io/idx.hpp>

#include "fuzz.hpp"
#include "support/gzip.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) { touch(mezzo::read_idx_file(file_of(bytes))); }

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  const Bytes small{0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};
  const Bytes floats{0, 0, 0x0D, 1, 0, 0, 0, 1, 0xbf, 0xc0, 0, 0};
  Bytes zeros{0, 0, 8, 1, 0, 0, 0x20, 0};
  zeros.resize(zeros.size() + 0x2000);
  return {small, floats, mezzo_tests::gzip(small), mezzo_tests::gzip(zeros)};
}
