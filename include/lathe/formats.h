// Files: arrays of numbers as safetensors (lathe::formats).
#pragma once

#include "lathe/formats/safetensors.h"
