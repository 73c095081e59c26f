// ResidentMemory: how much memory the process holds, asked again and again.
#pragma once

namespace osler::monitor {

/// What the system tells about this process. The file is held open, because opening it takes longer than reading it.
class ResidentMemory {
 public:
  ResidentMemory();
  ~ResidentMemory();
  ResidentMemory(const ResidentMemory&) = delete;
  ResidentMemory& operator=(const ResidentMemory&) = delete;

  /// Now; 0 where the system does not tell.
  [[nodiscard]] double bytes() const;

 private:
  int file_;
};

}  // namespace osler::monitor
