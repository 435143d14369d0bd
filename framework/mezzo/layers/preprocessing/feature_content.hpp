#pragma once
#include <memory>

#include <mezzo/layers/preprocessing/feature_layout.hpp>
#include <mezzo/layers/preprocessing/feature_space.hpp>

namespace mezzo {

/// State that copies of a FeatureSpace share.
struct FeatureSpace::Content {
  FeatureSpaceOptions options{};
  std::shared_ptr<const detail::FeatureLayout> layout{};  ///< null before adapt()
};

}  // namespace mezzo
