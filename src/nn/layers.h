// Every layer class: the functions and options that the rows LATHE_LAYER of tables.def name.
#pragma once

#include "lathe/nn/activation.h"
#include "lathe/nn/advanced_activations.h"
#include "lathe/nn/attention.h"
#include "lathe/nn/batch_normalization.h"
#include "lathe/nn/convolution.h"
#include "lathe/nn/dense.h"
#include "lathe/nn/embedding.h"
#include "lathe/nn/image_layers.h"
#include "lathe/nn/layer_normalization.h"
#include "lathe/nn/merge.h"
#include "lathe/nn/noise.h"
#include "lathe/nn/pooling.h"
#include "lathe/nn/recurrent.h"
#include "lathe/nn/shaping.h"
#include "lathe/nn/wrappers.h"
