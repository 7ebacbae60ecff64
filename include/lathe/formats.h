// Files: arrays of numbers as safetensors and as the weight data of TensorFlow.js (lathe::formats).
#pragma once

#include "lathe/base/standard.h"
#include "lathe/formats/safetensors.h"
#include "lathe/formats/weight_data.h"
