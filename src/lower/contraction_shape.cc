#include "lathe/lower/contraction_shape.h"

#include <cstdlib>

#include "lathe/base/text.h"

namespace lathe::lower {

namespace {

void append_dimensions(std::string& out,
                       const std::vector<ContractionShape::Dimension>& dimensions) {
  for (const auto& d : dimensions) append(out, ' ', d.extent, ':', d.out, ',', d.lhs, ',', d.rhs);
}

}  // namespace

int64_t ContractionShape::depth() const {
  int64_t depth = 1;
  for (const Dimension& d : reduced) depth *= d.extent;
  return depth;
}

int64_t ContractionShape::step(const Dimension& dimension, int operand) const {
  return std::abs(operand == 0 ? dimension.lhs : dimension.rhs);
}

int64_t ContractionShape::uses(int operand) const {
  int64_t uses = 1;
  for (const Dimension& d : spatial) {
    if (step(d, operand) == 0) uses *= d.extent;
  }
  return uses;
}

int64_t ContractionShape::multiply_adds() const {
  int64_t count = paired ? 2 * depth() : depth();
  for (const Dimension& d : spatial) count *= d.extent;
  return count;
}

std::string contraction_key(const ContractionShape& shape, std::string_view notes) {
  std::string key(scalar::text(shape.dtype));
  if (shape.read[0] != shape.dtype || shape.read[1] != shape.dtype) {
    append(key, " of ", scalar::text(shape.read[0]), ',', scalar::text(shape.read[1]));
  }
  if (shape.paired) key += " pairs";
  if (shape.inplace) key += " in place";
  key += notes;
  append_dimensions(key, shape.spatial);
  key += " |";
  append_dimensions(key, shape.reduced);
  return key;
}

}  // namespace lathe::lower
