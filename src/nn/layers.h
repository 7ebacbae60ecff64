// Every layer class: the functions and options that the rows LAYER of tables.def name.
#pragma once

#include "nn/activation.h"
#include "nn/advanced_activations.h"
#include "nn/attention.h"
#include "nn/batch_normalization.h"
#include "nn/convolution.h"
#include "nn/dense.h"
#include "nn/embedding.h"
#include "nn/layer_normalization.h"
#include "nn/merge.h"
#include "nn/noise.h"
#include "nn/pictures.h"
#include "nn/pooling.h"
#include "nn/recurrent.h"
#include "nn/shaping.h"
#include "nn/wrappers.h"
