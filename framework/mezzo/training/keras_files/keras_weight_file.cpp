#include <mezzo/training/keras_files/keras_weight_file.hpp>

#include <memory>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/zip_file.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/training/keras_files/legacy_h5.hpp>
#include <mezzo/training/keras_files/weight_groups.hpp>

namespace mezzo::detail {
namespace {

/// The file, or the weights of an archive.
std::unique_ptr<Hdf5File> open_weights(const std::string& path, const std::string& where) {
  if (kind_of_file(path) != FileKind::keras) return std::make_unique<Hdf5File>(path, where);
  const ZipFile zip(path, where);
  const ZipEntry* const entry = zip.find("model.weights.h5");
  if (entry == nullptr) fail<FileError>(where, "a .keras archive must have \"model.weights.h5\"; this one lacks it");
  return std::make_unique<Hdf5File>(zip.read(*entry, where), where);
}

std::string label_of_weights(const std::string& path) { return fmt::format("[load_weights \"{}\"]", path); }

void require_built(const Layer& layer, const std::string& where, const char* call) {
  if (layer.weights().empty() && !layer.state()->called) {
    fail<ValueError>(where, "{} needs a layer that was built, by build() or a call; got one without weights", call);
  }
}

}  // namespace

LoadWeightsReport load_keras_weights(Layer& layer, const std::string& path, const LoadWeightsOptions& options) {
  const std::string where = label_of_weights(path);
  if (!options.strict || !options.rename.empty() || !options.strip_prefixes.empty()) {
    fail<ValueError>(where,
                     "skip_mismatch is the only option for an HDF5 file of Keras, whose arrays have no names; got {}",
                     !options.strict           ? "strict = false"
                     : !options.rename.empty() ? "rename"
                                               : "strip_prefixes");
  }
  const std::unique_ptr<Hdf5File> opened = open_weights(path, where);
  const Hdf5File& file = *opened;
  require_built(layer, where, "load_weights");
  const WeightAccess access(layer.weights(), where, "load_weights");
  if (has_legacy_weights(file)) return load_legacy_weights(*layer.state(), file, options.skip_mismatch);
  const std::vector<KerasWeights> weights = keras_weights(*layer.state(), LayerListing::by_graph);
  KerasMatch match = match_keras_weights(weights, file, options.skip_mismatch);
  assign_keras_weights(match.numbers, file);
  return std::move(match.report);
}

void save_keras_weights(const Layer& layer, const std::string& path) {
  const std::string where = fmt::format("[save_weights \"{}\"]", path);
  require_built(layer, where, "save_weights");
  require_calibrated(*layer.state(), where, "save_weights");
  Hdf5Writer file(where);
  {
    const WeightAccess access(layer.weights(), where, "save_weights");
    write_keras_weights(keras_weights(*layer.state(), LayerListing::by_graph), file);
  }
  const Bytes bytes = file.finish();
  replace_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, where);
}

}  // namespace mezzo::detail
