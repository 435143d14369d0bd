#pragma once
// Models to and from ONNX files. Programs that include this link mezzo::onnx.
#include <mezzo/onnx/load_onnx.hpp>
