#include <mezzo/data/npy_dataset.hpp>

#include <memory>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/sources.hpp>
#include <mezzo/io/npy_file.hpp>

namespace mezzo {
namespace {

class NpySource : public DatasetSource {
 public:
  explicit NpySource(const std::vector<detail::NpyField>& given) {
    for (const auto& [name, path, role] : given) {
      const auto& file =
          files_.emplace_back(std::make_unique<const detail::NpyFile>(path, fmt::format("[npy_dataset \"{}\"]", path)));
      const Shape& shape = file->shape();
      if (shape[0] != size()) {
        fail<ShapeError>("[npy_dataset]", "field \"{}\" must have {} samples, as \"{}\" has; got shape {}", name,
                         size(), given.front().name, shape);
      }
      fields_.push_back({name, Shape(shape.begin() + 1, shape.end()), file->dtype(), role});
    }
    detail::check_fields(fields_);
  }

  std::int64_t size() const override { return files_.front()->shape()[0]; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override {
    for (std::size_t i = 0; i < files_.size(); ++i) files_[i]->read_row(index, out[i]);
  }

 private:
  std::vector<std::unique_ptr<const detail::NpyFile>> files_;
  std::vector<Field> fields_;
};

}  // namespace

Dataset npy_dataset(const std::vector<detail::NpyField>& fields) { return NpySource(fields); }

}  // namespace mezzo
