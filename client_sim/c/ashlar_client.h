/* A player on an Ashlar server, for C and for what loads a shared library (C#, Godot, Unity, Rust).
 *
 *   ashlar_options options = ASHLAR_OPTIONS_INIT;
 *   options.server = "127.0.0.1:7777";
 *   ashlar_client* client = ashlar_open(&options, error, sizeof error);
 *   each frame:
 *     ashlar_advance(client);                 reads and sends, never blocks
 *     ashlar_set_command(client, &command);   what the player wants from now on
 *     ashlar_self(client, &self);             the own player, foreseen and smoothed
 *     ashlar_others(client, list, sizeof list[0], 64);     everybody else in sight
 *   ashlar_close(client);
 *
 * Metres and seconds; x east, y north, z up. Angles are 16-bit turns: 65536 is a full one, yaw
 * counter-clockwise from +x, pitch signed within +-16384. A client belongs to one thread at a time; different
 * ones are independent. Structs that the library fills or reads begin with their size: set it (the *_INIT
 * macros do), and a newer library leaves alone what an older program does not know; what comes in lists is
 * taken with the size of one of them, to the same end. No function throws or logs, and none may be
 * called from a function that the library calls. A client that is NULL is one that is over: nothing happens.
 *
 * Sockets and clock are the library's. A program that has its own (another transport, a simulation) sets
 * ashlar_options.own_datagrams and calls, instead of ashlar_advance(),
 *     ashlar_feed(client, bytes, size);           for each datagram that came from the server
 *     ashlar_advance_at(client, microseconds);
 *     while ((size = ashlar_drain(client, bytes, sizeof bytes)) > 0) send it to the server
 *
 * Maps and props of a server are fetched from it before the client joins, which may take some seconds in the
 * state ASHLAR_JOINING; with load_content and keep_content they are not fetched again in the next session.
 * When a server goes on to another map the state is ASHLAR_JOINING again, and until it is ASHLAR_PLAYING
 * there is no own player, nobody else, and nothing known of blocks and sectors.
 */
#ifndef ASHLAR_CLIENT_H
#define ASHLAR_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(ASHLAR_CLIENT_MAKES) /* the library itself */
#define ASHLAR_API __declspec(dllexport)
#elif defined(_WIN32)
#define ASHLAR_API __declspec(dllimport)
#else
#define ASHLAR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define ASHLAR_NOEXCEPT noexcept
#else
#define ASHLAR_NOEXCEPT
#endif

/* Goes up when something here changes its meaning; what is only added leaves it. */
#define ASHLAR_CLIENT_VERSION 2

typedef struct ashlar_client ashlar_client;

enum ashlar_state { /* append only */
                    ASHLAR_CONNECTING = 0,
                    ASHLAR_JOINING = 1,
                    ASHLAR_PLAYING = 2,
                    ASHLAR_REFUSED = 3, /* this and those below: it is over, and ashlar_reason() says why */
                    ASHLAR_LEFT = 4,
                    ASHLAR_LOST = 5
};

enum ashlar_button {
  ASHLAR_JUMP = 1,
  ASHLAR_USE = 2,
  ASHLAR_ATTACK = 4,
  ASHLAR_DOWN = 8, /* who flies: sink */
  ASHLAR_RELOAD = 16
};

typedef struct {
  uint32_t size;
  const char* server;      /* "HOST:PORT"; UTF-8, as all texts. Of a name all addresses are tried */
  const char* name;        /* of the player: 1 to 24 printable characters */
  uint8_t tcp;             /* 0: UDP, and TCP where that stays silent; 1: TCP alone */
  const uint8_t* identity; /* 32 secret bytes that make the player who it is; NULL: a guest */
  const uint8_t* pinned;   /* 32 bytes: the only server key that will do; NULL: any */
  /* Where maps and props are kept, by their hashes; both may be NULL. They are called from ashlar_advance().
   * load_content gives the size of what was kept (0: nothing), and copies it to `out` where `bytes_max` has
   * room for it: it is called with NULL and 0 first. What is kept is checked, so any file will do. */
  size_t (*load_content)(void* content_user, uint64_t hash, uint8_t* out, size_t bytes_max);
  void (*keep_content)(void* content_user, uint64_t hash, const uint8_t* bytes, size_t size);
  void* content_user;
  /* Is given each message of the game that the server runs, from ashlar_advance(): its kind's name, its
   * number among them, and bytes that live until it returns. What was sent while the line was down, or just
   * before a change of world, may never come. NULL: they are dropped. */
  void (*game_message)(void* game_user, const char* name, uint8_t number, const uint8_t* bytes, size_t size);
  void* game_user;
  uint8_t stream_ground; /* 1: the server sends the ground; 0: it is computed, where this library can */
  uint8_t own_datagrams; /* 1: no sockets are opened, and `server` and `tcp` are not looked at */
  const uint8_t* token;  /* what a closed server wants to see; NULL: nothing */
  size_t token_bytes;    /* at most ASHLAR_TOKEN_BYTES */
  uint8_t watches;       /* 1: comes as a spectator (ashlar_self_state.spectates) */
  uint8_t reserved[7];   /* 0 */
} ashlar_options;
#define ASHLAR_OPTIONS_INIT \
  {sizeof(ashlar_options), NULL, "player", 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, {0}}
#define ASHLAR_TOKEN_BYTES 512
#define ASHLAR_DATAGRAM_BYTES 1200 /* of the longest one */

typedef struct {
  uint32_t size;
  double forward, left; /* -1 to 1, along the yaw and to its left; what is longer is shortened */
  uint16_t yaw;
  int16_t pitch;
  uint16_t buttons; /* of ashlar_button */
  uint8_t weapon;   /* one more than the index of the weapon to hold, below 32; 0: no other than now */
  uint8_t reserved; /* 0 */
} ashlar_command;
#define ASHLAR_COMMAND_INIT {sizeof(ashlar_command), 0, 0, 0, 0, 0, 0, 0}

typedef struct {
  uint32_t size;
  uint32_t id;
  double x, y, z;     /* middle of the feet, as a frame shows it */
  double vx, vy, vz;  /* metres per second */
  double eye_z;       /* above z */
  uint16_t delta_yaw; /* how far teleporters have turned the view: turn a held yaw by what it changes */
  uint8_t grounded;
  uint8_t health;    /* share of 255; 0 is dead */
  uint32_t tick;     /* of the server, that this is the state of */
  uint8_t weapon;    /* index of what it holds, as foreseen */
  uint8_t spectates; /* 1: it only watches: flies through everything, and the others do not see it */
} ashlar_self_state;
#define ASHLAR_SELF_INIT {sizeof(ashlar_self_state), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

typedef struct {
  uint32_t id;
  uint8_t kind;   /* EntityKind of world/sim/kinds.h: 0 is a player, from 16 on monsters */
  uint8_t health; /* share of 255 */
  uint8_t state;  /* by kind: what it is doing */
  uint8_t extrapolated;
  double x, y, z;
  uint16_t yaw;
  uint16_t reserved[3];
} ashlar_entity;

enum ashlar_cue_kind {                        /* append only */
                       ASHLAR_CUE_SHOT = 0,   /* a ray of a weapon of players (detail), that ended there */
                       ASHLAR_CUE_LAUNCH = 1, /* somebody launched something with a weapon (detail) */
                       ASHLAR_CUE_ATTACK = 2, /* of a monster; a ray ended there */
                       ASHLAR_CUE_HURT = 3,   /* somebody was, and lives */
                       ASHLAR_CUE_DIED = 4,   /* somebody did, there */
                       ASHLAR_CUE_BURST = 5,  /* of a projectile of a kind (detail), there */
                       ASHLAR_CUE_STEP = 6,   /* of who runs, on a block (detail; 0: a map's floor) */
                       ASHLAR_CUE_SPLASH = 7, /* into a block (detail) of a liquid, there */
                       ASHLAR_CUE_PICKUP = 8, /* of an item of maps (detail), there */
                       ASHLAR_CUE_USE = 9,    /* of a line, there; detail 1: it is locked */
                       ASHLAR_CUE_PLANE_STARTS = 10, /* a floor or ceiling (detail), there */
                       ASHLAR_CUE_PLANE_STOPS = 11,
                       ASHLAR_CUE_DIG = 12 /* at a block, there; detail: of 255, 0: it was left off */
};

typedef struct {
  uint32_t tick; /* of the server, in which it happened */
  uint32_t who;  /* whom it is about; 0: nobody that is told of */
  uint8_t kind;  /* of ashlar_cue_kind */
  uint8_t detail;
  uint8_t placed; /* 1: x, y and z say where */
  uint8_t reserved[5];
  double x, y, z;
} ashlar_cue;

typedef struct {
  double from[3], direction[3]; /* of the player's eye; of length 1 */
  double reach_m;               /* of a ray: how far it went, as far as walls are known; launched: 0 */
  uint8_t weapon;               /* index */
  uint8_t ray;                  /* of this shot, from 0 */
  uint8_t launched;             /* 1: something flies from there, of the kind `projectile` */
  uint8_t projectile;
  uint8_t reserved[4];
} ashlar_shot;

typedef struct {
  uint32_t size;
  double round_trip_ms;
  double others_lag_ms; /* how far the others' picture is behind the newest command */
  uint64_t snapshots;
  uint64_t confirmed;    /* ticks of the own player that the server told */
  uint64_t mispredicted; /* of those: not as foreseen */
  uint64_t late;         /* ticks whose command was not there in time, or is not numbered yet */
} ashlar_stats;
#define ASHLAR_STATS_INIT {sizeof(ashlar_stats), 0, 0, 0, 0, 0, 0}

typedef struct {
  uint16_t item;
  uint16_t count;
} ashlar_stack;

enum ashlar_act_verdict { /* append only */
                          ASHLAR_ACT_DONE = 0,
                          ASHLAR_ACT_PROGRESS = 1, /* digging has begun: another one of this number follows */
                          ASHLAR_ACT_STOPPED = 2,  /* from here on: nothing was changed */
                          ASHLAR_ACT_LOOKED_AWAY = 3,
                          ASHLAR_ACT_OUT_OF_REACH = 4,
                          ASHLAR_ACT_NO_SIGHT = 5,
                          ASHLAR_ACT_COOLING_DOWN = 6,
                          ASHLAR_ACT_PROTECTED_GROUND = 7, /* a map's, or close to one */
                          ASHLAR_ACT_BODY_IN_THE_WAY = 8,
                          ASHLAR_ACT_NOT_LOADED = 9,
                          ASHLAR_ACT_OUT_OF_BOUNDS = 10,
                          ASHLAR_ACT_NOTHING_THERE = 11,
                          ASHLAR_ACT_OCCUPIED = 12,
                          ASHLAR_ACT_UNKNOWN_BLOCK = 13,
                          ASHLAR_ACT_NOT_DIGGABLE = 14, /* ever, or with what the player holds */
                          ASHLAR_ACT_NO_SUPPORT = 15,
                          ASHLAR_ACT_NO_BLOCKS = 16, /* the player holds none */
                          ASHLAR_ACT_DEAD = 17,
                          ASHLAR_ACT_STALE_NUMBER = 18,
                          ASHLAR_ACT_NOT_SAVED = 19, /* the server's disk is full or too slow */
                          ASHLAR_ACT_NOT_OPEN = 20,
                          ASHLAR_ACT_HOLDS_NONE = 21, /* a block of that kind has no items, or no text */
                          ASHLAR_ACT_NO_ROOM = 22,
                          ASHLAR_ACT_PROTECTED_ZONE = 23 /* an operator's */
};

typedef struct {
  uint32_t act;    /* its number, as the call that asked for it returned it */
  int32_t x, y, z; /* the block that was or would have been changed */
  uint8_t verdict; /* of ashlar_act_verdict */
  uint8_t reserved[3];
} ashlar_verdict;

/* ASHLAR_CLIENT_VERSION of the library that was loaded: has to be the header's. */
ASHLAR_API uint32_t ashlar_version(void) ASHLAR_NOEXCEPT;

/* Looks the server up (which may take seconds) and begins to connect. NULL: `error` has one line why not. */
ASHLAR_API ashlar_client* ashlar_open(const ashlar_options* options, char* error,
                                      size_t error_bytes) ASHLAR_NOEXCEPT;
/* Says goodbye once, and frees all. NULL is nothing to do. To leave in order, and with own_datagrams to say
 * goodbye at all: ashlar_leave(), advance until the state is ASHLAR_LEFT, then this. */
ASHLAR_API void ashlar_close(ashlar_client* client) ASHLAR_NOEXCEPT;

/* Reads what arrived, lets time pass, sends. Every few milliseconds, at least once a frame. */
ASHLAR_API void ashlar_advance(ashlar_client* client) ASHLAR_NOEXCEPT;

/* With own_datagrams, in place of ashlar_advance(): a datagram that came, as it came (0: it is too long, and
 * dropped); a turn at a time that never goes backwards; and the next datagram to send, cut to `bytes_max`.
 * ashlar_drain gives its size; 0: there is none. What was not drained before the next turn is lost. */
ASHLAR_API int ashlar_feed(ashlar_client* client, const uint8_t* bytes, size_t size) ASHLAR_NOEXCEPT;
ASHLAR_API void ashlar_advance_at(ashlar_client* client, int64_t microseconds) ASHLAR_NOEXCEPT;
ASHLAR_API size_t ashlar_drain(ashlar_client* client, uint8_t* out, size_t bytes_max) ASHLAR_NOEXCEPT;

/* Call it when the device went from one network to another: over UDP the library sends from a new port from
 * now on, and the session goes on at once, without waiting for the old way's silence; a TCP connection is
 * left to end by itself. 0: no new socket can be opened,
 * `error` has one line why not; or with own_datagrams, where it is the program's to do. */
ASHLAR_API int ashlar_roam(ashlar_client* client, char* error, size_t error_bytes) ASHLAR_NOEXCEPT;

ASHLAR_API enum ashlar_state ashlar_get_state(const ashlar_client* client) ASHLAR_NOEXCEPT;
/* One line for people; empty while it plays. Valid until the next call with this client. */
ASHLAR_API const char* ashlar_reason(const ashlar_client* client) ASHLAR_NOEXCEPT;

ASHLAR_API void ashlar_set_command(ashlar_client* client, const ashlar_command* command) ASHLAR_NOEXCEPT;
ASHLAR_API void ashlar_leave(ashlar_client* client) ASHLAR_NOEXCEPT;

/* The server's public key, to be compared with that of the last time. 0: none is known yet. */
ASHLAR_API int ashlar_server_key(const ashlar_client* client, uint8_t out[32]) ASHLAR_NOEXCEPT;

/* Says a line to everybody. 0: it was not taken (it is none, or too many at once). */
ASHLAR_API int ashlar_say(ashlar_client* client, const char* text) ASHLAR_NOEXCEPT;
/* The next line that was said, both texts cut to their room; who said it, "": the server. 0: there is none.
 * The last 64 wait. */
ASHLAR_API int ashlar_take_line(ashlar_client* client, char* from, size_t from_bytes, char* text,
                                size_t text_bytes) ASHLAR_NOEXCEPT;

/* Says something to the game that the server runs, of a kind that it hears, by its name: in order, and once,
 * but for what was on its way when the session broke off, which is said again. 0: it was not taken (there is
 * no such kind, it is too long for it, too many at once, or the client does not play). */
ASHLAR_API int ashlar_send_game_message(ashlar_client* client, const char* name, const uint8_t* bytes,
                                        size_t size) ASHLAR_NOEXCEPT;

/* 0: there is no player yet, and nothing was filled in. */
ASHLAR_API int ashlar_self(ashlar_client* client, ashlar_self_state* out) ASHLAR_NOEXCEPT;
/* Fills in at most `max`, by id. Returns how many there are. */
ASHLAR_API size_t ashlar_others(ashlar_client* client, ashlar_entity* out, size_t entity_bytes,
                                size_t max) ASHLAR_NOEXCEPT;
/* What only shows and sounds (shots, hits, bursts), as it came, each once: takes at most `max` and returns
 * how many. At most 256 wait. */
ASHLAR_API size_t ashlar_take_cues(ashlar_client* client, ashlar_cue* out, size_t cue_bytes,
                                   size_t max) ASHLAR_NOEXCEPT;
/* The own shots as foreseen, a ray each, and what was launched: to show at once, each once. Takes at most
 * `max` and returns how many; the last 64 of each wait. */
ASHLAR_API size_t ashlar_take_shots(ashlar_client* client, ashlar_shot* out, size_t shot_bytes,
                                    size_t max) ASHLAR_NOEXCEPT;

/* Maps of the world, the sectors of one of them, the sector at a place (-1: none), and where its floor and
 * ceiling are as foreseen, at the moment that ashlar_self() shows, in the world's metres (0: not known, and
 * nothing was filled in). */
ASHLAR_API size_t ashlar_maps(const ashlar_client* client) ASHLAR_NOEXCEPT;
ASHLAR_API size_t ashlar_sectors(const ashlar_client* client, size_t map) ASHLAR_NOEXCEPT;
ASHLAR_API int64_t ashlar_sector_at(const ashlar_client* client, size_t map, double x,
                                    double y) ASHLAR_NOEXCEPT;
ASHLAR_API int ashlar_sector(const ashlar_client* client, size_t map, size_t sector, double* floor_z,
                             double* ceiling_z) ASHLAR_NOEXCEPT;
/* A field that the server's game adds to an entity, by its name, as newest known: a number in what units the
 * game says. 0: nothing is known of it, there is none, or it is not for this player; *out is left alone. */
ASHLAR_API int ashlar_field(const ashlar_client* client, uint32_t id, const char* name,
                            double* out) ASHLAR_NOEXCEPT;
/* Which block is there as foreseen, and further away as told (with stream_ground): 0 air, others as in
 * world/voxel/block.h; -1: not loaded here. */
ASHLAR_API int ashlar_block(const ashlar_client* client, int32_t x, int32_t y, int32_t z) ASHLAR_NOEXCEPT;
/* The first solid thing on a ray, whatever it is made of: block, map, prop. Gives the metres to it, or
 * `metres_max` where there is none; -1: the ray comes to what is not loaded here before that (some 24 m
 * around the player are), nothing is known yet, or the direction (of any length) is none. */
ASHLAR_API double ashlar_ray(const ashlar_client* client, const double from[3], const double direction[3],
                             double metres_max) ASHLAR_NOEXCEPT;
/* Acts on a block with the next command: faces are west, east, south, north, bottom, top from 0. Returns the
 * act's number; 0: it was not taken. */
ASHLAR_API uint32_t ashlar_dig(ashlar_client* client, int32_t x, int32_t y, int32_t z,
                               uint8_t face) ASHLAR_NOEXCEPT;
ASHLAR_API uint32_t ashlar_place(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face,
                                 uint16_t block) ASHLAR_NOEXCEPT;
/* Looks into a chest, and leaves off; moves items between the chest that is open and what the player holds:
 * as many of the kind as there are, were asked for (1 to 64) and have room. Acts like those. */
ASHLAR_API uint32_t ashlar_open_block(ashlar_client* client, int32_t x, int32_t y, int32_t z,
                                      uint8_t face) ASHLAR_NOEXCEPT;
ASHLAR_API uint32_t ashlar_close_block(ashlar_client* client) ASHLAR_NOEXCEPT;
ASHLAR_API uint32_t ashlar_take(ashlar_client* client, uint16_t item, uint8_t count) ASHLAR_NOEXCEPT;
ASHLAR_API uint32_t ashlar_put(ashlar_client* client, uint16_t item, uint8_t count) ASHLAR_NOEXCEPT;
/* Gives a sign its text, at most 64 bytes of printable UTF-8; "" takes it away. */
ASHLAR_API uint32_t ashlar_write_sign(ashlar_client* client, int32_t x, int32_t y, int32_t z, uint8_t face,
                                      const char* text) ASHLAR_NOEXCEPT;
/* Throws items of what the player holds to where it looks: an act like those. */
ASHLAR_API uint32_t ashlar_drop(ashlar_client* client, uint16_t item, uint16_t count) ASHLAR_NOEXCEPT;
/* What became of acts, in order, each once: takes at most `max` and returns how many. At most 256 wait; an
 * act that was on its way when its session broke off is never answered. */
ASHLAR_API size_t ashlar_take_verdicts(ashlar_client* client, ashlar_verdict* out, size_t verdict_bytes,
                                       size_t max) ASHLAR_NOEXCEPT;
/* Fills in at most `max` stacks of what the player holds, as the server last said. Returns how many it holds.
 */
ASHLAR_API size_t ashlar_inventory(const ashlar_client* client, ashlar_stack* out, size_t stack_bytes,
                                   size_t max) ASHLAR_NOEXCEPT;
/* The name of a kind of block or item in this world, such as "stone"; "": there is none of that number, or
 * nothing is known yet. Valid until the next ashlar_advance() or ashlar_advance_at(). */
ASHLAR_API const char* ashlar_block_name(const ashlar_client* client, uint16_t block) ASHLAR_NOEXCEPT;
/* Fills in at most `max` stacks of the chest that is open. Returns how many there are; -1: none is open. */
ASHLAR_API int ashlar_opened(const ashlar_client* client, ashlar_stack* out, size_t stack_bytes,
                             size_t max) ASHLAR_NOEXCEPT;
/* What is written on a sign near the player, cut to `bytes` with its end. Returns its length; 0: nothing. */
ASHLAR_API size_t ashlar_sign(const ashlar_client* client, int32_t x, int32_t y, int32_t z, char* out,
                              size_t bytes) ASHLAR_NOEXCEPT;
/* Fills in what fits out->size. */
ASHLAR_API void ashlar_get_stats(const ashlar_client* client, ashlar_stats* out) ASHLAR_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
