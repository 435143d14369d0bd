#include <mezzo/data/views.hpp>

#include <algorithm>
#include <iterator>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

bool equal(const Field& a, const Field& b) {
  return a.name == b.name && a.shape == b.shape && a.dtype == b.dtype && a.role == b.role;
}

void check_same_fields(const std::vector<Field>& first, const std::vector<Field>& other, std::size_t number) {
  const std::string where = "[Dataset.concat]";
  if (first.size() != other.size()) {
    fail<ValueError>(where, "data set {} must have {} fields, as the first one; got {}", number, first.size(),
                     other.size());
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (equal(first[i], other[i])) continue;
    const auto text = [](const Field& field) {
      constexpr const char* roles[] = {"input", "target", "weight"};
      return fmt::format("\"{}\" {} {} ({})", field.name, field.dtype, field.shape,
                         roles[static_cast<std::size_t>(field.role)]);
    };
    fail<ValueError>(where, "field {} of data set {} must be {}, as in the first one; got {}", i, number,
                     text(first[i]), text(other[i]));
  }
}

}  // namespace

ConcatSource::ConcatSource(std::vector<std::shared_ptr<const DatasetSource>> parts) : parts_(std::move(parts)) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    check_same_fields(parts_.front()->fields(), parts_[i]->fields(), i);
    ends_.push_back(end += parts_[i]->size());
  }
}

std::pair<const DatasetSource&, std::int64_t> ConcatSource::find(std::int64_t index) const {
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
  const std::int64_t begin = end == ends_.begin() ? 0 : *std::prev(end);
  return {*parts_[static_cast<std::size_t>(end - ends_.begin())], index - begin};
}

void ConcatSource::read_in_epoch(std::int64_t index, std::int64_t epoch, void* const* out) const {
  const auto [part, place] = find(index);
  part.read_in_epoch(place, epoch, out);
}

std::vector<Tensor> ConcatSource::sample(std::int64_t index, std::int64_t epoch) const {
  const auto [part, place] = find(index);
  return part.sample(place, epoch);
}

std::int64_t ConcatSource::length(std::int64_t index) const {
  const auto [part, place] = find(index);
  return part.length(place);
}

}  // namespace mezzo::detail
