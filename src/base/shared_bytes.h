// Immutable bytes with shared ownership: copying them copies a pointer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace lathe {

class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::vector<std::byte> bytes) : size_(bytes.size()) {
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    data_ = {owner, owner->data()};
  }
  template <std::input_iterator Bytes>
  SharedBytes(Bytes first, Bytes last) : SharedBytes(std::vector<std::byte>(first, last)) {}
  SharedBytes(std::shared_ptr<const std::byte> data, size_t size)
      : data_(std::move(data)), size_(size) {}

  // A slice, which shares ownership of all of the bytes.
  SharedBytes part(const std::byte* from, size_t size) const {
    return {std::shared_ptr<const std::byte>(data_, from), size};
  }

  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }
  const std::byte& operator[](size_t at) const { return data()[at]; }

  bool operator==(const SharedBytes& other) const {
    return size_ == other.size_ &&
           (data_ == other.data_ || std::equal(begin(), end(), other.begin()));
  }

 private:
  std::shared_ptr<const std::byte> data_;
  size_t size_ = 0;
};

}  // namespace lathe
