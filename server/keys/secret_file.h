#pragma once
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

// Files that hold a key or a token: small, and where the key is a secret one, their owner's alone.

namespace ashlar::server {

/// A text that is overwritten when it goes.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(std::string text) : text_(std::move(text)) {}
  SecretText(SecretText&& other) noexcept;
  SecretText& operator=(SecretText&& other) noexcept;
  SecretText(const SecretText&) = delete;
  ~SecretText();
  std::string_view view() const { return text_; }

 private:
  std::string text_;
};

inline constexpr std::size_t key_file_bytes_max = 4096;

/// Why a file with these rights is no place for a secret, with the remedy; empty: it is one. Others may not
/// read it, nor anybody beside its owner write it. Its group may read it where the owner is somebody else
/// than we, as containers mount secrets. @param mode, owner  of stat(); @param user  as whom we run
std::string exposure_of(const std::string& path, unsigned mode, unsigned owner, unsigned user);

/// The text of a file that holds a key or a token. A file that holds a secret key is refused when others can
/// read it. @return or one line with the file, the reason and the remedy; it never repeats the text
std::expected<SecretText, std::string> read_key_file(const std::string& path);

/// A file of mode 0600 on its way to its name: written beside it and synced; gone again with the object
/// unless keep() was called.
class NewSecretFile {
 public:
  /// @return or one line with the file, the reason and the remedy: "it is there already", for one
  static std::expected<NewSecretFile, std::string> create(const std::string& path, std::string_view text);
  NewSecretFile(NewSecretFile&& other) noexcept;
  NewSecretFile& operator=(NewSecretFile&&) = delete;
  ~NewSecretFile();

  /// Gives it its name, in one step, and never over a file that has it. Synced.
  std::expected<void, std::string> keep();

 private:
  NewSecretFile(std::string path, std::string beside) : path_(std::move(path)), beside_(std::move(beside)) {}
  std::string path_, beside_;  ///< beside_ empty: nothing is left to do
};

/// Removes what create() of that path left beside it in processes that were killed before keep().
/// Precondition: no other process is at it.
void remove_unfinished(const std::string& path);

}  // namespace ashlar::server
