#include "env/webshop/product_store.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"

namespace starpo {
namespace {

constexpr std::uint64_t kStoreMagic = 0x31304f5453505353;  // "SSPSTO01"
constexpr std::size_t kStoreBufferBytes = 1 << 20;

// At the end of the file, after the products, their ends and their order by asin.
struct StoreFooter {
  std::uint64_t products_bytes, products, products_with_nouns;
  std::uint64_t magic = kStoreMagic;
};

constexpr std::uint64_t aligned(std::uint64_t size) { return (size + 7) / 8 * 8; }

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Error store_error() {
  return Error("index_invalid", "the catalogue's index is truncated or damaged",
               "delete the starpo-* files in the catalogue's folder to rebuild the index");
}

}  // namespace

void ProductStoreWriter::flush() {
  write_(buffer_);
  buffer_.clear();
}

void ProductStoreWriter::add(const Product& product) {
  const std::string packed = pack(product);
  buffer_ += packed;
  ends_.push_back(size_ += packed.size());
  asins_.push_back(product.asin);
  products_with_nouns_ += product.nouns.has_value();
  if (buffer_.size() > kStoreBufferBytes) flush();
}

void ProductStoreWriter::finish() {
  std::vector<std::uint32_t> by_asin(ends_.size());
  std::iota(by_asin.begin(), by_asin.end(), 0);
  std::ranges::sort(by_asin, {}, [&](std::uint32_t product) -> const std::string& { return asins_[product]; });
  const StoreFooter footer{size_, ends_.size(), products_with_nouns_};
  buffer_.append(aligned(size_) - size_, '\0');
  buffer_ += bytes_of(ends_);
  buffer_ += bytes_of(by_asin);
  buffer_.append(by_asin.size() % 2 * sizeof(std::uint32_t), '\0');
  buffer_.append(reinterpret_cast<const char*>(&footer), sizeof footer);
  flush();
}

ProductStore::ProductStore(std::string_view bytes) {
  StoreFooter footer;
  if (bytes.size() < sizeof footer) throw store_error();
  std::memcpy(&footer, bytes.data() + bytes.size() - sizeof footer, sizeof footer);
  if (footer.magic != kStoreMagic || footer.products > bytes.size() / 8 || footer.products_bytes > bytes.size())
    throw store_error();
  const std::uint64_t ends_begin = aligned(footer.products_bytes), order_begin = ends_begin + footer.products * 8;
  if (aligned(order_begin + footer.products * sizeof(std::uint32_t)) + sizeof footer != bytes.size())
    throw store_error();
  products_ = bytes.substr(0, footer.products_bytes);
  ends_ = {reinterpret_cast<const std::uint64_t*>(bytes.data() + ends_begin), footer.products};
  by_asin_ = {reinterpret_cast<const std::uint32_t*>(bytes.data() + order_begin), footer.products};
  products_with_nouns_ = footer.products_with_nouns;
  if (!std::ranges::is_sorted(ends_) || (!ends_.empty() && ends_.back() != footer.products_bytes) ||
      std::ranges::any_of(by_asin_, [&](std::uint32_t product) { return product >= footer.products; }))
    throw store_error();
}

Product ProductStore::product(std::size_t index) const {
  if (index >= ends_.size()) throw store_error();
  const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  return unpack_product(products_.substr(begin, ends_[index] - begin));
}

}  // namespace starpo
