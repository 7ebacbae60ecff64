// Convolutions by 3x3 windows in fewer multiplications: Winograd's minimal filtering, as in Lavin
// and Gray, "Fast Algorithms for Convolutional Neural Networks" (arXiv:1509.09308). A tile of m x m
// outputs reads (m + 2) x (m + 2) inputs; transformed, it needs (m + 2)^2 products instead of 9
// m^2. It knows no loop.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace lathe::lower::cpu {

struct ContractionShape;

inline constexpr int64_t kTaps = 3;
inline constexpr int64_t kMaxPoints = 6;

// The dimensions of a contraction that form such a convolution.
struct Windows {
  struct Axis {
    int index = -1;     // in `spatial`
    int tap = -1;       // in `reduced`; the channel's where that runs over taps and channels
    bool flip = false;  // taps run against the image
  };
  std::array<Axis, 2> axes;
  int channel = -1;  // in `reduced`
  int64_t channels = 0;
};

// What a contraction is as a convolution with windows of 3x3 neighbours of a plain image.
std::optional<Windows> find_windows(const ContractionShape& shape);

// Rows of coefficients; the second to the last but one go in pairs, which differ in the sign of odd
// columns only.
struct WinogradTransforms {
  int64_t tile;                                                 // outputs along an axis
  int64_t points;                                               // tile + 2
  std::array<std::array<float, kMaxPoints>, kMaxPoints> input;  // points x points
  std::array<std::array<float, kTaps>, kMaxPoints> filter;      // points x taps
  // Transposed: the outputs that each point goes to.
  std::array<std::array<float, 4>, kMaxPoints> output;  // points x tile
};

// Of tiles of 2 or 4 outputs.
const WinogradTransforms& winograd_transforms(int64_t tile);

// The tile that suits the convolution best, or 1: none saves time.
int32_t winograd_tile(const ContractionShape& shape);

}  // namespace lathe::lower::cpu
