#include <mezzo/io/hdf5_writer.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/hdf5_library.hpp>

namespace mezzo::detail {

#if MEZZO_WITH_LIBHDF5
/// The file in memory.
class Hdf5Writer::Library {
 public:
  explicit Library(const std::string& where) : where_(where) {
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access.get(), 1U << 20U, false);
    // libhdf5 opens no second file of the same name, though these files are in memory alone.
    static std::uint64_t files = 0;  // under the lock
    const std::string name = fmt::format("{}.h5", files++);
    file_ = Hdf5Id(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    check(file_.get());
    creation_ = Hdf5Id(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation_.get(), false);
    links_ = Hdf5Id(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links_.get(), 1);
  }

  void add(const std::string& path, const Tensor& numbers) {
    std::vector<hsize_t> sizes(numbers.shape().begin(), numbers.shape().end());
    const Hdf5Id space(
        sizes.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
        H5Sclose);
    const Hdf5Id type = hdf5_type(numbers.dtype());
    const Hdf5Id set(
        H5Dcreate2(file_.get(), path.c_str(), type.get(), space.get(), links_.get(), creation_.get(), H5P_DEFAULT),
        H5Dclose);
    check(set.get());
    if (numbers.size() > 0) {
      check(H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.raw()));
    }
    if (numbers.dtype() == DType::bfloat16) add_text(set.get(), "dtype", "bfloat16");
  }

  void add_text(const std::string& group, const std::string& attribute, const std::string& text) {
    const Hdf5Id object(H5Oopen(file_.get(), group.c_str(), H5P_DEFAULT), H5Oclose);
    check(object.get());
    add_text(object.get(), attribute, text);
  }

  Bytes finish() {
    check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL));
    const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
    check(size);
    Bytes out(static_cast<std::size_t>(size));
    check(H5Fget_file_image(file_.get(), out.data(), out.size()));
    return out;
  }

 private:
  void check(std::int64_t result) const {
    if (result < 0) fail<FileError>(where_, "can't be written; libhdf5 reports: {}", hdf5_reason());
  }

  void add_text(hid_t object, const std::string& name, const std::string& text) const {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(type.get(), H5T_VARIABLE);
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    const Hdf5Id attribute(H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    check(attribute.get());
    const char* const content = text.c_str();
    check(H5Awrite(attribute.get(), type.get(), &content));
  }

  std::string where_;
  Hdf5Id file_, creation_, links_;
};

Hdf5Writer::Hdf5Writer(const std::string& where) : where_(where) {
  const Hdf5Lock lock;
  library_ = std::make_unique<Library>(where);
}

Hdf5Writer::~Hdf5Writer() {
  const Hdf5Lock lock;
  library_.reset();
}

void Hdf5Writer::add(const std::string& path, const Tensor& numbers) {
  const Hdf5Lock lock;
  library_->add(path, numbers);
}

void Hdf5Writer::add_text(const std::string& group, const std::string& attribute, const std::string& text) {
  const Hdf5Lock lock;
  library_->add_text(group, attribute, text);
}

Bytes Hdf5Writer::finish() {
  const Hdf5Lock lock;
  return library_->finish();
}
#else
class Hdf5Writer::Library {};

Hdf5Writer::Hdf5Writer(const std::string& where) {
  fail<Error>(where, "writing Keras' files needs libhdf5; this mezzo was built without it");
}
Hdf5Writer::~Hdf5Writer() = default;
void Hdf5Writer::add(const std::string&, const Tensor&) {}
void Hdf5Writer::add_text(const std::string&, const std::string&, const std::string&) {}
Bytes Hdf5Writer::finish() { return {}; }
#endif

}  // namespace mezzo::detail
