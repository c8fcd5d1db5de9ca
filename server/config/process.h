#pragma once

namespace ashlar::server {

/// A standard stream that comes closed would be the next file or socket that is opened, and lines meant for
/// people would be written into it: it is opened, read-only, so that writing still fails. Call first.
void keep_standard_streams();

/// Has the C library ask the kernel for huge pages: for programs that pass over what is known of many clients
/// once and again, where with usual pages a good part of the time goes into finding where they lie. The
/// library reads this only as a process begins: the program replaces itself by itself, with the same process
/// id. Call before anything is opened, and before there are threads. Whoever sets GLIBC_TUNABLES, to
/// whatever, has the last word. Where any of it is not to be had nothing happens.
void begin_with_huge_pages(const char* const* argv);

}  // namespace ashlar::server
