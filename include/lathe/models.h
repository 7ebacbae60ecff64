// Saved models: loaded, saved, made one module (lathe::models).
#pragma once

#include "lathe/models/saved_model.h"
