/* The same in C: joins, walks a square, prints what it sees, leaves.
 * gcc -std=c99 walk_square.c -lashlar_client
 * usage: walk_square_c [HOST:PORT]   exit code 0 when it played */
#define _POSIX_C_SOURCE 199309L
#include <ashlar_client.h>
#include <stdio.h>
#include <time.h>

enum { turns_a_second = 500, side_turns = turns_a_second / 2, seen_max = 64 };

/* Rounded down, below 0, too. */
static int32_t block_at(double metres) {
  const int32_t whole = (int32_t)metres;
  return whole > metres ? whole - 1 : whole;
}

static void print_picture(ashlar_client* client) {
  static ashlar_entity seen[seen_max];
  ashlar_self_state self = ASHLAR_SELF_INIT;
  size_t count, i;
  if (!ashlar_self(client, &self)) return;
  count = ashlar_others(client, seen, sizeof seen[0], seen_max);
  printf("I am at %.2f %.2f %.2f on block %d, foreseen for tick %u, %u others in sight\n", self.x, self.y,
         self.z, ashlar_block(client, block_at(self.x), block_at(self.y), block_at(self.z - 0.5)),
         (unsigned)self.tick, (unsigned)count);
  for (i = 0; i < count && i < 3; ++i)
    printf("  kind %u at %.2f %.2f %.2f\n", (unsigned)seen[i].kind, seen[i].x, seen[i].y, seen[i].z);
}

int main(int argc, char** argv) {
  const struct timespec turn = {0, 1000000000L / turns_a_second};
  char error[256];
  int turns = 0;
  ashlar_options options = ASHLAR_OPTIONS_INIT;
  ashlar_command command = ASHLAR_COMMAND_INIT;
  ashlar_stats stats = ASHLAR_STATS_INIT;
  ashlar_client* client;

  if (ashlar_version() != ASHLAR_CLIENT_VERSION) {
    fprintf(stderr, "the library has version %u of the interface, this program wants %d\n",
            (unsigned)ashlar_version(), ASHLAR_CLIENT_VERSION);
    return 2;
  }
  options.server = argc > 1 ? argv[1] : "127.0.0.1:7777";
  options.name = "square_c";
  client = ashlar_open(&options, error, sizeof error);
  if (client == NULL) {
    fprintf(stderr, "%s\n", error);
    return 2;
  }
  while (ashlar_get_state(client) < ASHLAR_REFUSED) {
    ashlar_advance(client);
    if (ashlar_get_state(client) == ASHLAR_PLAYING) {
      if (turns % side_turns == 0) print_picture(client);
      if (turns == 4 * side_turns) ashlar_leave(client);
      command.forward = 1;
      command.yaw = (uint16_t)(turns / side_turns * 16384); /* a quarter turn to the left */
      ashlar_set_command(client, &command);
      ++turns;
    }
    nanosleep(&turn, NULL);
  }
  ashlar_get_stats(client, &stats);
  printf("%u of %u ticks were not as foreseen\n", (unsigned)stats.mispredicted, (unsigned)stats.confirmed);
  if (ashlar_get_state(client) != ASHLAR_LEFT) {
    fprintf(stderr, "%s\n", ashlar_reason(client));
    ashlar_close(client);
    return 1;
  }
  ashlar_close(client);
  return 0;
}
