#pragma once
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// State that adapt() of a layer has found. Copies of the layer share it, as weights are; clone() copies it.
template <class Found>
class Adapted {
 public:
  explicit Adapted(Found found = {}) : content_(std::in_place, std::move(found)) {}

  const Found& operator*() const { return content_->found; }
  const Found* operator->() const { return &content_->found; }
  void set(Found found) { content_->found = std::move(found); }

  /// For functions that run after the call.
  std::shared_ptr<const Found> pointer() const { return {content_.pointer(), &content_->found}; }

  /// The same as `*`, in public functions of an Owner. Throws a ValueError if the layer was moved from.
  const Found& of(const std::type_info& owner) const {
    if (!usable_) fail_moved(owner);
    return content_->found;
  }

  /// Notes a call of the layer.
  void note_call() { part_of_model_ = part_of_model_ || current_frames().size() > 1; }

  /// True if a model may have been built with the layer, which must then keep the number of its columns.
  bool in_use(const Layer& layer) const {
    return part_of_model_ || (layer.state()->called && content_.pointer().use_count() > 1);
  }

 private:
  struct Content {
    struct Blank {};
    explicit Content(Blank) {}
    explicit Content(Found given) : found(std::move(given)) {}
    void copy_from(const Content& other) { *this = other; }

    Found found{};
  };

  Shared<Content> content_;
  UnlessMoved usable_ = true;
  bool part_of_model_ = false;  // this copy was called by another layer
};

/// Throws a ValueError if the number of columns of a layer's result would change. `where` ends with "adapt:".
MEZZO_API void check_columns_kept(const std::string& where, std::int64_t before, std::int64_t after);

}  // namespace mezzo::detail
