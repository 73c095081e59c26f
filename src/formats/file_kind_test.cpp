// Files that are no logs are called by their name.
#include "formats/file_kind.h"

#include <gtest/gtest.h>

#include "formats/claim.h"

namespace osler {
namespace {

std::string_view name_of(std::string_view head) {
  const auto kind = known_binary(head);
  return kind ? kind->name : "";
}

TEST(FileKind, IsKnownByTheFirstBytes) {
  EXPECT_EQ(name_of("PAR1\x15\x04"), "a Parquet file");
  EXPECT_EQ(name_of("\x80\x04\x95\x10"), "a Python pickle");
  EXPECT_EQ(name_of("PK\x03\x04............archive/data.pkl"), "a PyTorch checkpoint");
  EXPECT_EQ(name_of("PK\x03\x04............readme.txt"), "a zip archive");
  EXPECT_EQ(name_of("\x89HDF\r\n\x1a\n"), "an HDF5 file");
  EXPECT_EQ(name_of(std::string_view("\x10\x02\0\0\0\0\0\0{\"__metadata__\"", 23)), "a safetensors file");
  EXPECT_EQ(name_of("ARROW1\0\0"), "a Feather (Arrow) file");
}

TEST(FileKind, OfTextIsNone) {
  for (const char* head : {"step,loss\n1,2\n", "{\"loss\": 1}", "", "P", "Epoch 1"}) EXPECT_EQ(name_of(head), "");
}

TEST(FileKind, StandsInTheAnswerWithAHint) {
  const Error error = unclaimed({"history.pkl", "\x80\x04\x95\x10\x02\x03", true});
  EXPECT_NE(error.message.find("is a Python pickle"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("json.dump"), std::string::npos) << error.message;
  const Error table = unclaimed({"log.parquet", std::string_view("PAR1\x15\x00\x15", 7), true});
  EXPECT_NE(table.message.find("osler.diagnose"), std::string::npos) << table.message;
}

}  // namespace
}  // namespace osler
