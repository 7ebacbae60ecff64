// Models: layers, graphs of layers, and training as a program of entries (lathe::nn);
// texts for the errors of own layers.
#pragma once

#include "lathe/base/standard.h"
#include "lathe/base/text.h"
#include "lathe/nn/layers/layers.h"
#include "lathe/nn/model.h"
#include "lathe/nn/sequential.h"
#include "lathe/nn/training/states.h"
#include "lathe/nn/training/training.h"
