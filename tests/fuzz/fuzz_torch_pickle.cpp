// The pickle of a file of torch.save(). The archive around it has right checksums, which mutations rarely have.
#include <mezzo/io/torch_file.hpp>
#include <mezzo/io/zip_file.hpp>
#include <mezzo/io/zip_writer.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"
#include "support/paths.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  static const mezzo_tests::Folder folder;
  mezzo::detail::ZipWriter zip(folder.path("a.pt"), "[fuzz]");
  zip.add("a/data.pkl", [&](const auto& write) { write(bytes.data(), bytes.size()); });
  const Bytes storage(256, 1);
  for (const char* name : {"a/data/0", "a/data/1", "a/data/2", "a/data/3"}) {
    zip.add(name, [&](const auto& write) { write(storage.data(), storage.size()); });
  }
  zip.commit();
  const mezzo::TorchFile file(folder.path("a.pt"));
  for (const std::string& name : file.names()) touch(file.read(name));
}

std::vector<Bytes> seeds() {
  const auto folder = mezzo_tests::tests_dir() / "parity" / "recorded" / "tensor_files";
  std::vector<Bytes> out;
  for (const char* name : {"one_tensor", "wrapped", "protocol_4", "tensors", "checkpoint"}) {
    const mezzo::detail::ZipFile zip((folder / (name + std::string(".pt"))).string(), "[fuzz]");
    for (const mezzo::detail::ZipEntry& entry : zip.entries()) {
      if (entry.name.find("data.pkl") == std::string::npos) continue;
      out.push_back(zip.read(entry, "[fuzz]"));
    }
  }
  return out;
}

const Target target("torch_pickle", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
