#pragma once

/// @file
/// Models to and from ONNX files. Programs that include it link mezzo::onnx:
/// `find_package(mezzo REQUIRED COMPONENTS onnx)`.

#include <mezzo/onnx/export_onnx.hpp>
#include <mezzo/onnx/load_onnx.hpp>
