#include "env/webshop/product.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "env/reference/python_number.h"
#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

// Writes fields in the order in which PackedReader reads them: numbers as eight bytes, texts with their length.
class PackedWriter {
 public:
  void number(double value) { raw(&value, sizeof value); }
  void count(std::uint64_t value) { raw(&value, sizeof value); }
  void text(const std::string& value) {
    count(value.size());
    bytes_ += value;
  }
  template <class Item, class Write>
  void list(const std::vector<Item>& items, Write write) {
    count(items.size());
    for (const Item& item : items) write(item);
  }
  void texts(const std::vector<std::string>& values) {
    list(values, [this](const std::string& value) { text(value); });
  }
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* value, std::size_t size) { bytes_.append(static_cast<const char*>(value), size); }

  std::string bytes_;
};

class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : rest_(bytes) {}

  double number() { return raw<double>(); }
  std::uint64_t count() { return raw<std::uint64_t>(); }
  std::string text() { return std::string(take(count())); }
  template <class Item, class Read>
  std::vector<Item> list(Read read) {
    std::vector<Item> items;
    for (std::uint64_t left = count(); left > 0; --left) items.push_back(read());
    return items;
  }
  std::vector<std::string> texts() {
    return list<std::string>([this] { return text(); });
  }

 private:
  template <class T>
  T raw() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size())
      throw Error("index_invalid", "the catalogue's index is damaged",
                  "delete the starpo-* files in the catalogue's folder to rebuild the index");
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }

  std::string_view rest_;
};

}  // namespace

std::string Product::price_tag() const {
  std::string tag = "$" + format_python_number(prices.front(), false);
  if (prices.size() > 1) tag += " to $" + format_python_number(prices[1], false);
  return tag;
}

std::string Product::search_text() const {
  std::vector<std::string> option_texts;
  for (const ProductOption& option : options) option_texts.push_back(option.name + ": " + join(option.values, ", "));
  return python_lower(
      join({title, description, bullets.empty() ? std::string() : bullets.front(), join(option_texts, ", and ")}, " "));
}

std::string pack(const Product& product) {
  PackedWriter out;
  for (const auto* text : {&product.asin, &product.title, &product.description, &product.category, &product.query,
                           &product.product_category})
    out.text(*text);
  out.texts(product.bullets);
  out.list(product.prices, [&](double price) { out.number(price); });
  out.list(product.options, [&](const ProductOption& option) {
    out.text(option.name);
    out.texts(option.values);
  });
  out.texts(product.attributes);
  out.count(product.instruction.has_value());
  out.text(product.instruction.value_or(""));
  out.texts(product.instruction_attributes);
  out.list(product.human_instructions, [&](const HumanInstruction& human) {
    out.text(human.text);
    out.texts(human.attributes);
    out.texts(human.options);
  });
  out.count(product.nouns.has_value());
  out.texts(product.nouns.value_or(std::vector<std::string>()));
  return out.take();
}

Product unpack_product(std::string_view bytes) {
  PackedReader in(bytes);
  Product product;
  for (auto* text : {&product.asin, &product.title, &product.description, &product.category, &product.query,
                     &product.product_category})
    *text = in.text();
  product.bullets = in.texts();
  product.prices = in.list<double>([&] { return in.number(); });
  product.options = in.list<ProductOption>([&] {
    ProductOption option;
    option.name = in.text();
    option.values = in.texts();
    return option;
  });
  product.attributes = in.texts();
  const bool has_instruction = in.count() != 0;
  std::string instruction = in.text();
  if (has_instruction) product.instruction = std::move(instruction);
  product.instruction_attributes = in.texts();
  product.human_instructions = in.list<HumanInstruction>([&] {
    HumanInstruction human;
    human.text = in.text();
    human.attributes = in.texts();
    human.options = in.texts();
    return human;
  });
  const bool has_nouns = in.count() != 0;
  std::vector<std::string> nouns = in.texts();
  if (has_nouns) product.nouns = std::move(nouns);
  return product;
}

}  // namespace starpo
