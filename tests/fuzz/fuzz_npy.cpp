#include <mezzo/io/npy.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const std::string path = file_of(bytes);
  try {
    touch(mezzo::load_npy(path, {.field = "x"}));
  } catch (const mezzo::Error&) {
  }
  touch(mezzo::load_npy(path));
}

std::vector<Bytes> seeds() {
  const mezzo_tests::Folder folder;
  std::vector<Bytes> out;
  for (const mezzo::DType dtype : {mezzo::DType::float32, mezzo::DType::boolean, mezzo::DType::float16}) {
    mezzo::save_npy(folder.path("a.npy"), mezzo::Tensor({2, 3}, dtype));
    out.push_back(content_of(folder.path("a.npy")));
  }
  std::string fortran = text_of(out[0]);
  fortran.replace(fortran.find("False"), 5, "True ");
  out.push_back(bytes_of(fortran));
  std::string fields("\x93NUMPY\1\0\x76\0", 10);
  fields += "{'descr': [('n', '<U1'), ('x', '>i2', (2,))], 'fortran_order': False, 'shape': (2,), }";
  fields.resize(10 + 0x76, ' ');
  out.push_back(bytes_of(fields + std::string(16, '\1')));
  return out;
}

const Target target("npy", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
