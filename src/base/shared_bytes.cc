#include "lathe/base/shared_bytes.h"

#include <algorithm>

namespace lathe {

SharedBytes::SharedBytes(std::vector<std::byte> bytes) : size_(bytes.size()) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  data_ = {owner, owner->data()};
}

SharedBytes::SharedBytes(std::span<const std::byte> copied)
    : SharedBytes(std::vector<std::byte>(copied.begin(), copied.end())) {}

bool SharedBytes::operator==(const SharedBytes& other) const {
  return size_ == other.size_ &&
         (data_ == other.data_ || std::equal(begin(), end(), other.begin()));
}

}  // namespace lathe
