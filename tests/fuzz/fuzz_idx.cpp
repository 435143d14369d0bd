#include <mezzo/io/idx.hpp>

#include "fuzz.hpp"
#include "support/gzip.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) { touch(mezzo::read_idx_file(file_of(bytes))); }

std::vector<Bytes> seeds() {
  const Bytes small{0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};
  const Bytes floats{0, 0, 0x0D, 1, 0, 0, 0, 1, 0xbf, 0xc0, 0, 0};
  Bytes zeros{0, 0, 8, 1, 0, 0, 0x20, 0};
  zeros.resize(zeros.size() + 0x2000);
  return {small, floats, mezzo_tests::gzip(small), mezzo_tests::gzip(zeros)};
}

const Target target("idx", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
