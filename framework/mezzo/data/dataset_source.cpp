#include <mezzo/data/dataset_source.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/sources.hpp>

namespace mezzo {

void DatasetSource::read(std::int64_t, void* const*) const {
  fail<ValueError>("", "the data set must override read(), or sample() for fields with an open axis; got neither");
}

std::vector<Tensor> DatasetSource::sample(std::int64_t index, std::int64_t epoch) const {
  std::vector<Tensor> out;
  std::vector<void*> places;
  for (const Field& field : fields()) {
    if (detail::has_open_axis({field})) {
      fail<ValueError>("", "the data set must override sample(): field \"{}\" has shape {}", field.name, field.shape);
    }
    out.push_back(Tensor::uninitialized(field.shape, field.dtype));
    places.push_back(out.back().mutable_raw());
  }
  read_in_epoch(index, epoch, places.data());
  return out;
}

}  // namespace mezzo
