#include "client_sim/read_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ashlar::client_sim {

std::expected<std::vector<std::uint8_t>, std::string> read_file(const std::string& path) {
  const auto failure = [&path](const std::string& why) {
    return std::unexpected("cannot read " + path + ": " + why);
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) return failure(std::strerror(errno));
  constexpr std::size_t piece = std::size_t{1} << 16;
  std::vector<std::uint8_t> bytes;
  for (std::size_t size = 0;;) {
    bytes.resize(size + piece);
    const std::size_t got = std::fread(bytes.data() + size, 1, piece, file.get());
    size += got;
    bytes.resize(size);
    if (std::ferror(file.get()) != 0) return failure(std::strerror(errno));  // a folder, for one
    if (size > file_bytes_max) return failure("it is larger than 512 MiB");
    if (got < piece) return bytes;
  }
}

}  // namespace ashlar::client_sim
