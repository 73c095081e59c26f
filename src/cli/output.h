// Writing results so that what was there before is lost only when the new is whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"

namespace osler::cli {

/// Files on their way: they are written into a hidden folder beside their place, and take their names when they are
/// whole. What is not placed goes away with the draft, and what was there before stays.
class Draft {
 public:
  /// A draft for the file or the folder `place`, whose parent folder must be there.
  [[nodiscard]] static Result<Draft> beside(const std::filesystem::path& place);
  /// A draft that will never be placed, for what goes to standard output.
  [[nodiscard]] static Result<Draft> in_temporary_folder();
  ~Draft();
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&&) = delete;

  /// Where to write what shall be called `place`.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Gives the file its name; it replaces what is there.
  [[nodiscard]] Result<void> place_file() const;
  /// Moves every file of a drafted folder to where it belongs, beside what is there; none replaces another.
  [[nodiscard]] Result<void> place_folder() const;

 private:
  Draft(std::filesystem::path folder, std::filesystem::path path, std::filesystem::path place)
      : folder_(std::move(folder)), path_(std::move(path)), place_(std::move(place)) {}

  std::filesystem::path folder_;
  std::filesystem::path path_;
  std::filesystem::path place_;
};

/// Whether one of `inputs` is the very file at `output`, by whatever name. Nothing is when there is no file.
[[nodiscard]] bool is_one_of(const std::filesystem::path& output, const std::vector<std::string>& inputs);

/// Where a file shall be written: a link is followed to the file that it names. Fails for what may not be replaced:
/// devices, pipes, folders, links that lead nowhere, the files in `inputs`.
[[nodiscard]] Result<std::filesystem::path> replaceable(const std::filesystem::path& output,
                                                        const std::vector<std::string>& inputs);

/// Writes a whole file, over one that is there; into a pipe or a device as it is. Refuses to replace one of `inputs`.
[[nodiscard]] Result<void> write_output(const std::string& path, std::string_view bytes,
                                        const std::vector<std::string>& inputs);

}  // namespace osler::cli
