#include <mezzo/data/text/tokenizer/vocabulary.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void TokenVocabulary::add(const std::string& token, std::uint64_t id, const std::string& where) {
  if (id >= most_ids) {
    fail<FileError>(where, "the id of token \"{}\" must lie in [0, {}); got {}", token, most_ids, id);
  }
  if (id < texts_.size() && texts_[id] != nullptr) {
    fail<FileError>(where, "the id {} must have one token; got \"{}\" and \"{}\"", id, *texts_[id], token);
  }
  const auto place = ids_.insert_or_assign(token, static_cast<std::uint32_t>(id)).first;
  if (texts_.size() <= id) texts_.resize(id + 1, nullptr);
  texts_[id] = &place->first;
}

}  // namespace mezzo::detail
