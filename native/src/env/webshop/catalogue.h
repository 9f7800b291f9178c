#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "env/webshop/product_store.h"
#include "env/webshop/search_index.h"

namespace starpo {

// Products with their search index. Immutable, so episodes and threads share it.
class Catalogue {
 public:
  // Receives the stage, products or search, and the number of products that it has processed.
  using Progress = std::function<void(std::string_view stage, std::size_t done)>;
  static constexpr std::uintmax_t kLargestInMemory = 64 << 20;  // bytes of items_shuffle*.json

  // name: a folder (see read_catalogue), or synthetic:N:SEED. Returns the same object for the same arguments
  // while it is in use. Errors: catalogue_missing, catalogue_ambiguous, catalogue_invalid, index_invalid,
  // file_unreadable, disk_full, file_unwritable.
  static std::shared_ptr<const Catalogue> open(const std::string& name, bool human_goals);

  // Returns whether a name for open() refers to a folder.
  static bool is_folder(std::string_view name);

  // Builds a catalogue in memory.
  explicit Catalogue(const std::vector<Product>& products);

  // Reads a folder. A catalogue whose products have more than `largest_in_memory` bytes gets an index in the folder,
  // two mapped files that are built once: starpo-KEY.products and starpo-KEY.search. KEY depends on the catalogue's
  // files, so that another version of them gets another index, and those of older versions are deleted. A third file,
  // starpo-KEY.sha256, is the digest of the first. `progress` is called while the index is built.
  Catalogue(const std::filesystem::path& folder, bool human_goals, std::uintmax_t largest_in_memory = kLargestInMemory,
            const Progress& progress = {});

  std::size_t size() const { return store_->size(); }
  Product product(std::size_t index) const { return store_->product(index); }  // in the order of the file

  // Returns products, best first, for a search as WebShop interprets it: at most 50 of a text search, or all products
  // of an exact query (`<q> text`) or category (`<c> word`).
  std::vector<std::uint32_t> search(std::string_view keywords) const;

  // Digest of everything that was read about the products. Different catalogues have different digests; the same
  // products have different ones for synthetic and human goals.
  const std::string& digest() const { return digest_; }

  std::size_t products_with_nouns() const { return store_->products_with_nouns(); }  // listed in a file

  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

 private:
  using AddProducts = std::function<void(const std::function<void(const Product&)>& add)>;

  explicit Catalogue(const AddProducts&);
  void build_in_memory(const AddProducts&);

  template <class Matches>
  std::vector<std::uint32_t> select(Matches matches) const;

  std::vector<std::shared_ptr<const void>> owners_;  // of the bytes that store and index read
  std::unique_ptr<const ProductStore> store_;
  std::unique_ptr<const SearchIndex> index_;
  std::string digest_;
};

}  // namespace starpo
