#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace starpo {

// A made-up catalogue in WebShop's schema, the same on every machine for a size and a seed. Its texts are the project's
// own.
class SyntheticCatalogue {
 public:
  SyntheticCatalogue(std::uint32_t products, std::uint64_t seed) : products_(products), seed_(seed) {}

  std::uint32_t size() const { return products_; }

  // Calls `receive` with each product's entry of items_shuffle.json, items_ins_v2.json and items_human_ins.json.
  struct Entry {
    const nlohmann::ordered_json &item, &annotations, &human_instructions;
  };
  void generate(const std::function<void(const std::string& asin, const Entry&)>& receive) const;

  // Writes the three files into a folder.
  void write(const std::filesystem::path& folder) const;

 private:
  std::uint32_t products_;
  std::uint64_t seed_;
};

}  // namespace starpo
