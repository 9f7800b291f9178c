#include "env/webshop/synthetic_tables.h"

namespace starpo {
namespace {

constexpr std::string_view kBrands[] = {"Arbolea",   "Brightwell", "Calderon & Fox", "Dunmoor",  "Evenhart",
                                        "Fjordlin",  "Greywick",   "Halcyon Row",    "Inkfield", "Juniper Lane",
                                        "Kestrelle", "Lumenor",    "Marlowe",        "Northbay", "Ovenbird",
                                        "Pellworth", "Quillon",    "Rosmere"};
constexpr std::string_view kStyles[] = {"Classic",   "Everyday",  "Modern",  "Compact",     "Premium",
                                        "Essential", "Signature", "Vintage", "Lightweight", "Deluxe"};

constexpr std::string_view kClothingAttributes[] = {
    "machine wash", "long sleeve", "moisture wicking", "slim fit",    "relaxed fit", "pure cotton",
    "quick drying", "hand wash",   "elastic waist",    "button down", "tumble dry",  "stretch fabric",
    "soft lining",  "wide leg",    "high waist",       "day comfort"};
constexpr std::string_view kShoeAttributes[] = {"rubber sole",   "non slip",        "arch support",    "memory foam",
                                                "lace up",       "slip on",         "water resistant", "wide fit",
                                                "leather upper", "shock absorbing", "open toe",        "day comfort"};
constexpr std::string_view kBeautyAttributes[] = {
    "cruelty free", "paraben free",   "fragrance free",  "sulfate free", "long lasting", "natural ingredients",
    "dry skin",     "sensitive skin", "hyaluronic acid", "coconut oil",  "easy apply",   "fine lines",
    "dark circles", "plant based",    "alcohol free",    "travel size"};
constexpr std::string_view kGardenAttributes[] = {
    "space saving", "easy assemble", "solid wood",     "height adjustable", "easy clean",    "stainless steel",
    "living room",  "dining room",   "heavy duty",     "eco friendly",      "storage space", "water resistant",
    "steel frame",  "non toxic",     "fade resistant", "hand made"};
constexpr std::string_view kGroceryAttributes[] = {
    "gluten free", "sugar free",     "low sodium",     "dairy free",        "high protein", "non gmo",
    "low carb",    "plant based",    "keto friendly",  "certified organic", "nut free",     "artificial flavors",
    "ready eat",   "source vitamin", "resealable bag", "gift basket"};
constexpr std::string_view kElectronicsAttributes[] = {
    "noise cancelling", "fast charging", "high definition", "plug play",   "wireless bluetooth", "long battery",
    "easy install",     "heavy duty",    "hands free",      "gold plated", "power supply",       "carrying case",
    "touch control",    "water proof",   "high speed",      "stereo sound"};

constexpr std::string_view kColors[] = {"black",      "white",      "navy blue",      "dark green", "burgundy",
                                        "light grey", "coral/pink", "mustard yellow", "teal"};
constexpr std::string_view kSizes[] = {"Small", "Medium", "Large", "X-Large", "XX-Large"};
constexpr std::string_view kShoeSizes[] = {"6", "6.5", "7", "8", "9.5", "10 Wide"};
constexpr std::string_view kScents[] = {"lavender", "citrus", "unscented", "rose water", "vanilla", "green tea"};
constexpr std::string_view kVolumes[] = {"1 Fl Oz (Pack of 1)", "2 Fl Oz (Pack of 1)", "8 Fl Oz (Pack of 2)",
                                         "16 Fl Oz (Pack of 1)"};
constexpr std::string_view kDimensions[] = {"18\" x 18\"", "24\" x 16\"", "2' x 3'", "5' x 7'"};
constexpr std::string_view kFlavors[] = {"sea salt",       "dark chocolate", "honey/almond",
                                         "apple cinnamon", "original",       "chili lime"};
constexpr std::string_view kPacks[] = {"6 Ounce (Pack of 1)", "6 Ounce (Pack of 6)", "12 Ounce (Pack of 3)",
                                       "1 Pound (Pack of 1)"};
constexpr std::string_view kModels[] = {"for phone 11", "for phone 12 pro", "for tablet 10", "universal"};
constexpr std::string_view kLengths[] = {"3ft", "6ft", "10ft"};

constexpr SyntheticOption kClothingOptions[] = {{"Color", kColors}, {"Size", kSizes}};
constexpr SyntheticOption kShoeOptions[] = {{"color", kColors}, {"size", kShoeSizes}};
constexpr SyntheticOption kBeautyOptions[] = {{"scent", kScents}, {"size", kVolumes}};
constexpr SyntheticOption kGardenOptions[] = {{"color", kColors}, {"size", kDimensions}};
constexpr SyntheticOption kGroceryOptions[] = {{"flavor name", kFlavors}, {"size", kPacks}};
constexpr SyntheticOption kDeviceOptions[] = {{"color", kColors}, {"model", kModels}};
constexpr SyntheticOption kCableOptions[] = {{"color", kColors}, {"length", kLengths}};

constexpr SyntheticType kSyntheticTypes[] = {
    {"Hooded Sweatshirt", "men's sweatshirts", "fashion", "Clothing, Shoes & Jewelry › Men › Clothing › Sweatshirts",
     kClothingAttributes, kClothingOptions, 15, 60},
    {"Button Down Shirt", "women's shirts", "fashion", "Clothing, Shoes & Jewelry › Women › Clothing › Shirts",
     kClothingAttributes, kClothingOptions, 12, 55},
    {"Jogger Pants", "men's pants", "fashion", "Clothing, Shoes & Jewelry › Men › Clothing › Pants",
     kClothingAttributes, kClothingOptions, 18, 70},
    {"Running Shoes", "women's walking shoes", "fashion", "Clothing, Shoes & Jewelry › Women › Shoes › Athletic",
     kShoeAttributes, kShoeOptions, 25, 140},
    {"Leather Sandals", "sandals", "fashion", "Clothing, Shoes & Jewelry › Women › Shoes › Sandals", kShoeAttributes,
     kShoeOptions, 15, 90},
    {"Face Moisturizer", "face moisturizer", "beauty", "Beauty & Personal Care › Skin Care › Face › Creams",
     kBeautyAttributes, kBeautyOptions, 6, 65},
    {"Shampoo Bar", "shampoo", "beauty", "Beauty & Personal Care › Hair Care › Shampoo", kBeautyAttributes,
     kBeautyOptions, 5, 30},
    {"Body Lotion", "body lotion", "beauty", "Beauty & Personal Care › Skin Care › Body › Lotions", kBeautyAttributes,
     kBeautyOptions, 5, 40},
    {"Lip Balm Set", "lip care", "beauty", "Beauty & Personal Care › Skin Care › Lip Care", kBeautyAttributes,
     kBeautyOptions, 4, 25},
    {"Coffee Table", "coffee tables", "garden", "Home & Kitchen › Furniture › Living Room Furniture › Tables",
     kGardenAttributes, kGardenOptions, 60, 420},
    {"Throw Pillow Cover", "pillows", "garden", "Home & Kitchen › Bedding › Decorative Pillows", kGardenAttributes,
     kGardenOptions, 8, 45},
    {"Area Rug", "area rugs", "garden", "Home & Kitchen › Home Décor › Rugs", kGardenAttributes, kGardenOptions, 20,
     260},
    {"Bar Stool", "bar stools", "garden", "Home & Kitchen › Furniture › Kitchen Furniture › Stools", kGardenAttributes,
     kGardenOptions, 45, 1300},
    {"Snack Bars", "snack bars", "grocery", "Grocery & Gourmet Food › Snack Foods › Bars", kGroceryAttributes,
     kGroceryOptions, 7, 45},
    {"Ground Coffee", "coffee", "grocery", "Grocery & Gourmet Food › Beverages › Coffee", kGroceryAttributes,
     kGroceryOptions, 9, 60},
    {"Trail Mix", "dried fruit", "grocery", "Grocery & Gourmet Food › Snack Foods › Trail Mix", kGroceryAttributes,
     kGroceryOptions, 6, 38},
    {"Herbal Tea", "tea", "grocery", "Grocery & Gourmet Food › Beverages › Tea", kGroceryAttributes, kGroceryOptions, 4,
     30},
    {"Wireless Headphones", "headphones", "electronics", "Electronics › Headphones › Over-Ear Headphones",
     kElectronicsAttributes, kDeviceOptions, 20, 350},
    {"Charging Cable", "cables", "electronics", "Electronics › Accessories & Supplies › Cables", kElectronicsAttributes,
     kCableOptions, 5, 35},
    {"Phone Case", "phone cases", "electronics", "Cell Phones & Accessories › Cases, Holsters & Sleeves",
     kElectronicsAttributes, kDeviceOptions, 8, 40},
    {"Security Camera", "security cameras", "electronics", "Electronics › Camera & Photo › Video Surveillance",
     kElectronicsAttributes, kDeviceOptions, 30, 1150},
};

}  // namespace

std::span<const SyntheticType> synthetic_types() { return kSyntheticTypes; }
Words synthetic_brands() { return kBrands; }
Words synthetic_styles() { return kStyles; }

}  // namespace starpo
