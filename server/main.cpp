// ashlar-server: see run_server.h, by which a program with a game of its own is the same.
#include "server/run_server.h"

int main(int argc, char** argv) { return ashlar::server::run_server(argc, argv); }
