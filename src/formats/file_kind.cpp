// Magic bytes of files that lie beside logs or are mistaken for them.
#include "formats/file_kind.h"

#include <array>

namespace osler {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  FileKindName kind;
};

constexpr std::string_view kToCsv = "write its numbers as CSV, with pandas: read it and call to_csv('log.csv')";
constexpr std::string_view kByPython =
    "Osler's Python package reads it, by pyarrow: osler.diagnose('FILE'); or write its numbers as CSV, with pandas";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kCheckpoint = "it holds weights, not a log; name the log that was written beside it";

constexpr std::array kMagics = {
    Magic{"PAR1"sv, {"a Parquet file", kByPython}},
    Magic{"ARROW1"sv, {"a Feather (Arrow) file", kByPython}},
    Magic{"FEA1"sv, {"a Feather file", kByPython}},
    Magic{"\x89HDF\r\n"sv, {"an HDF5 file", "Keras keeps weights in it; name the log that was written beside it"}},
    Magic{"\x93NUMPY"sv, {"a NumPy array", "write it as text with numpy.savetxt('log.csv', array, delimiter=',')"}},
    Magic{"BZh"sv, {"a bzip2 archive", kUnpack}},
    Magic{"7z\xBC\xAF\x27\x1C"sv, {"a 7z archive", kUnpack}},
    Magic{"GGUF"sv, {"a GGUF model", kCheckpoint}},
    Magic{"\x7F"
          "ELF"sv,
          {"a program", "it is no log"}},
    Magic{"\x89PNG"sv, {"a PNG image", "it is no log"}},
    Magic{"%PDF"sv, {"a PDF document", "it is no log"}},
    Magic{"SQLite format 3\0"sv, {"an SQLite database", "of these only MLflow's and Osler's own are read"}},
    Magic{"\x1F\x8B"sv, {"a gzip file", "what is packed in it is in none of the formats; unpack it to see what it is"}},
    Magic{"\x28\xB5\x2F\xFD"sv, {"a zstd file", "what is packed in it is in none of the formats; unpack it to see"}},
    Magic{"\xFD"
          "7zXZ"sv,
          {"an xz file", "what is packed in it is in none of the formats; unpack it to see what it is"}},
};

/// Eight bytes of length, then the JSON header.
bool is_safetensors(std::string_view head) {
  return head.size() > 10 && head[5] == 0 && head[6] == 0 && head[7] == 0 && head[8] == '{' && head[9] == '"';
}

/// Protocol 2 to 5: a byte 0x80, the protocol, and an opcode.
bool is_pickle(std::string_view head) {
  return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

FileKindName zip_kind(std::string_view head) {
  if (head.find("data.pkl") != std::string_view::npos) return {"a PyTorch checkpoint", kCheckpoint};
  if (head.find(".npy") != std::string_view::npos) return {"a NumPy archive (npz)", kToCsv};
  if (head.find("[Content_Types].xml") != std::string_view::npos) {
    return {"an Office document", "save the table as CSV"};
  }
  return {"a zip archive", kUnpack};
}

}  // namespace

std::optional<FileKindName> known_binary(std::string_view head) {
  for (const auto& [bytes, kind] : kMagics) {
    if (head.starts_with(bytes)) return kind;
  }
  if (head.starts_with("PK\x03\x04")) return zip_kind(head);
  if (is_pickle(head)) {
    return FileKindName{"a Python pickle",
                        "to open one is to run its code, which Osler does not; in Python, "
                        "json.dump(pickle.load(open('history.pkl', 'rb')), open('history.json', 'w'), default=float) "
                        "writes what it holds"};
  }
  if (is_safetensors(head)) return FileKindName{"a safetensors file", kCheckpoint};
  constexpr std::size_t kTarMagic = 257;
  if (head.size() > kTarMagic + 5 && head.substr(kTarMagic, 5) == "ustar")
    return FileKindName{"a tar archive", kUnpack};
  return std::nullopt;
}

}  // namespace osler
