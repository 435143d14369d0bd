#include <mezzo/training/module/logger.hpp>

#include <mezzo/core/name_table.hpp>
#include <mezzo/training/loggers/csv_logger.hpp>
#include <mezzo/training/loggers/json_logger.hpp>
#include <mezzo/training/loggers/tensor_board_logger.hpp>

namespace mezzo {

Any<Logger> Logger::from_name(const std::string& name) {
  static const NameTable<Logger> table(
      "logger", {{"csv", [](const std::string&) -> Any<Logger> { return loggers::CSVLogger("."); }},
                 {"json", [](const std::string&) -> Any<Logger> { return loggers::JSONLogger("."); }},
                 {"tensorboard", [](const std::string&) -> Any<Logger> { return loggers::TensorBoardLogger("."); }}});
  return table.at(name);
}

}  // namespace mezzo
