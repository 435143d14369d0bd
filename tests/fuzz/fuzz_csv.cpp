// The first byte chooses the dtype and the options.
#include <mezzo/io/csv.hpp>

#include "fuzz.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  if (bytes.empty()) return;
  constexpr mezzo::DType dtypes[] = {mezzo::DType::float32, mezzo::DType::float64, mezzo::DType::int8,
                                     mezzo::DType::boolean};
  touch(mezzo::load_csv(file_of({bytes.begin() + 1, bytes.end()}), {.delimiter = (bytes[0] & 4U) != 0 ? ';' : ',',
                                                                    .skip_rows = (bytes[0] & 8U) != 0 ? 1 : 0,
                                                                    .dtype = dtypes[bytes[0] % 4]}));
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  return {bytes_of(std::string(1, '\0') + "1,2.5\n# no\n-3e4, nan\r\n"),
          bytes_of("\x0e"
                   "a;b\n+1;127\n"),
          bytes_of("\x03"
                   "0,1\n")};
}
