// Valid loop programs at random, and their comparison by execution.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/loop/loop.h"

namespace lathe::loop {

// The element types of a module: those that shaders have, or all.
enum class Types { OfShaders, All };

// Deterministic by seed. Uses every kind of buffer, statement, loop and expression; Vector loops
// have this many lanes.
Module random_module(uint32_t seed, Types types = Types::OfShaders, int64_t lanes = 4);

// The bytes of every buffer that outlives its entry, after all entries ran on random contents;
// the error of a run that failed.
std::vector<std::string> outcome(const Module& module, uint32_t seed);

}  // namespace lathe::loop
