// Every layer class: the functions and options that the rows LATHE_LAYER of tables.def name.
#pragma once

#include "lathe/nn/layers/activation.h"
#include "lathe/nn/layers/advanced_activations.h"
#include "lathe/nn/layers/attention.h"
#include "lathe/nn/layers/batch_normalization.h"
#include "lathe/nn/layers/convolution.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/layers/embedding.h"
#include "lathe/nn/layers/image_layers.h"
#include "lathe/nn/layers/layer_normalization.h"
#include "lathe/nn/layers/merge.h"
#include "lathe/nn/layers/noise.h"
#include "lathe/nn/layers/pooling.h"
#include "lathe/nn/layers/recurrent.h"
#include "lathe/nn/layers/shaping.h"
#include "lathe/nn/layers/wrappers.h"
