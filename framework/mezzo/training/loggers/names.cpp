#include <mezzo/training/loggers/names.hpp>

#include <mezzo/training/loggers/csv_logger.hpp>
#include <mezzo/training/loggers/json_logger.hpp>
#include <mezzo/training/loggers/tensor_board_logger.hpp>

namespace mezzo {

const NameTable<Logger>& logger_names() {
  static const NameTable<Logger> table(
      "logger", {{"csv", [](const std::string&) -> Any<Logger> { return loggers::CSVLogger("."); }},
                 {"json", [](const std::string&) -> Any<Logger> { return loggers::JSONLogger("."); }},
                 {"tensorboard", [](const std::string&) -> Any<Logger> { return loggers::TensorBoardLogger("."); }}});
  return table;
}

}  // namespace mezzo
