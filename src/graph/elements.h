// Reads and writes single elements of little-endian tensor bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lathe/graph/graph.h"

namespace lathe::graph {

scalar::Number load(DType dtype, std::span<const std::byte> data, int64_t index);
void store(std::span<std::byte> data, int64_t index, const scalar::Number& number);

// The bytes of one element.
std::vector<std::byte> bytes_of(const scalar::Number& number);

// Steps through every index of a box in row-major order.
//   for (Odometer at(extents); at.inside(); at.next()) use(at.index());
class Odometer {
 public:
  explicit Odometer(std::vector<int64_t> extents);
  bool inside() const { return inside_; }
  const std::vector<int64_t>& index() const { return index_; }
  void next();

 private:
  std::vector<int64_t> extents_, index_;
  bool inside_;
};

}  // namespace lathe::graph
