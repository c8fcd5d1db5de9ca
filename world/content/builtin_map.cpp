#include "world/content/builtin_map.h"

// A hall with a door and windows onto a courtyard, a gallery up the stairs, a crypt with a lift down the
// others, and a store behind. Written like any map: editors that read UDMF open this text as it is.

namespace ashlar {
namespace {

constexpr std::string_view builtin_udmf = R"UDMF(
namespace = "doom";
vertex { x = 768; y = 0; }
vertex { x = 0; y = 0; }
vertex { x = 768; y = 64; }
vertex { x = 768; y = 128; }
vertex { x = 768; y = 192; }
vertex { x = 768; y = 320; }
vertex { x = 768; y = 384; }
vertex { x = 768; y = 448; }
vertex { x = 768; y = 512; }
vertex { x = 352; y = 512; }
vertex { x = 256; y = 512; }
vertex { x = 0; y = 512; }
vertex { x = 0; y = 320; }
vertex { x = 0; y = 192; }
vertex { x = 800; y = 192; }
vertex { x = 800; y = 320; }
vertex { x = 800; y = 64; }
vertex { x = 800; y = 128; }
vertex { x = 800; y = 384; }
vertex { x = 800; y = 448; }
vertex { x = 1632; y = -128; }
vertex { x = 800; y = -128; }
vertex { x = 1632; y = 768; }
vertex { x = 1344; y = 768; }
vertex { x = 1088; y = 768; }
vertex { x = 800; y = 768; }
vertex { x = 1120; y = 224; }
vertex { x = 1312; y = 224; }
vertex { x = 1312; y = 416; }
vertex { x = 1120; y = 416; }
vertex { x = 1344; y = 816; }
vertex { x = 1088; y = 816; }
vertex { x = 1344; y = 864; }
vertex { x = 1088; y = 864; }
vertex { x = 1344; y = 912; }
vertex { x = 1088; y = 912; }
vertex { x = 1344; y = 960; }
vertex { x = 1088; y = 960; }
vertex { x = 864; y = 960; }
vertex { x = 1568; y = 960; }
vertex { x = 1568; y = 1344; }
vertex { x = 864; y = 1344; }
vertex { x = 864; y = 1104; }
vertex { x = 864; y = 1008; }
vertex { x = -48; y = 192; }
vertex { x = -48; y = 320; }
vertex { x = -96; y = 192; }
vertex { x = -96; y = 320; }
vertex { x = -144; y = 192; }
vertex { x = -144; y = 320; }
vertex { x = -192; y = 192; }
vertex { x = -192; y = 320; }
vertex { x = -192; y = 0; }
vertex { x = -768; y = 0; }
vertex { x = -192; y = 512; }
vertex { x = -640; y = 512; }
vertex { x = -768; y = 512; }
vertex { x = -768; y = 384; }
vertex { x = -640; y = 384; }
vertex { x = -640; y = 640; }
vertex { x = -768; y = 640; }
vertex { x = 352; y = 896; }
vertex { x = 256; y = 896; }
vertex { x = 96; y = 896; }
vertex { x = 608; y = 896; }
vertex { x = 608; y = 1008; }
vertex { x = 608; y = 1104; }
vertex { x = 608; y = 1216; }
vertex { x = 96; y = 1216; }
vertex { x = 672; y = 1008; }
vertex { x = 672; y = 1104; }
vertex { x = 736; y = 1008; }
vertex { x = 736; y = 1104; }
vertex { x = 800; y = 1008; }
vertex { x = 800; y = 1104; }
vertex { x = 416; y = 288; }
vertex { x = 352; y = 288; }
vertex { x = 416; y = 224; }
vertex { x = 352; y = 224; }
vertex { x = 1072; y = 1168; }
vertex { x = 1024; y = 1168; }
vertex { x = 1072; y = 1120; }
vertex { x = 1024; y = 1120; }
vertex { x = 1408; y = 1168; }
vertex { x = 1360; y = 1168; }
vertex { x = 1408; y = 1120; }
vertex { x = 1360; y = 1120; }
vertex { x = -400; y = 304; }
vertex { x = -448; y = 288; }
vertex { x = -384; y = 256; }
vertex { x = -400; y = 208; }
vertex { x = -448; y = 224; }
linedef { v1 = 0; v2 = 1; sidefront = 0; blocking = true; }
linedef { v1 = 2; v2 = 0; sidefront = 1; blocking = true; }
linedef { v1 = 2; v2 = 3; sidefront = 2; sideback = 3; twosided = true; }
linedef { v1 = 4; v2 = 3; sidefront = 4; blocking = true; }
linedef { v1 = 5; v2 = 4; sidefront = 5; sideback = 6; twosided = true; special = 1; }
linedef { v1 = 6; v2 = 5; sidefront = 7; blocking = true; }
linedef { v1 = 6; v2 = 7; sidefront = 8; sideback = 9; twosided = true; }
linedef { v1 = 8; v2 = 7; sidefront = 10; blocking = true; }
linedef { v1 = 9; v2 = 8; sidefront = 11; blocking = true; }
linedef { v1 = 9; v2 = 10; sidefront = 12; sideback = 13; twosided = true; }
linedef { v1 = 11; v2 = 10; sidefront = 14; blocking = true; }
linedef { v1 = 12; v2 = 11; sidefront = 15; blocking = true; }
linedef { v1 = 12; v2 = 13; sidefront = 16; sideback = 17; twosided = true; }
linedef { v1 = 1; v2 = 13; sidefront = 18; blocking = true; }
linedef { v1 = 14; v2 = 4; sidefront = 19; blocking = true; }
linedef { v1 = 14; v2 = 15; sidefront = 20; sideback = 21; twosided = true; special = 1; }
linedef { v1 = 5; v2 = 15; sidefront = 22; blocking = true; }
linedef { v1 = 16; v2 = 2; sidefront = 23; blocking = true; }
linedef { v1 = 16; v2 = 17; sidefront = 24; sideback = 25; twosided = true; }
linedef { v1 = 3; v2 = 17; sidefront = 26; blocking = true; }
linedef { v1 = 18; v2 = 6; sidefront = 27; blocking = true; }
linedef { v1 = 18; v2 = 19; sidefront = 28; sideback = 29; twosided = true; }
linedef { v1 = 7; v2 = 19; sidefront = 30; blocking = true; }
linedef { v1 = 20; v2 = 21; sidefront = 31; blocking = true; }
linedef { v1 = 22; v2 = 20; sidefront = 32; blocking = true; }
linedef { v1 = 23; v2 = 22; sidefront = 33; blocking = true; }
linedef { v1 = 23; v2 = 24; sidefront = 34; sideback = 35; twosided = true; }
linedef { v1 = 25; v2 = 24; sidefront = 36; blocking = true; }
linedef { v1 = 19; v2 = 25; sidefront = 37; blocking = true; }
linedef { v1 = 15; v2 = 18; sidefront = 38; blocking = true; }
linedef { v1 = 17; v2 = 14; sidefront = 39; blocking = true; }
linedef { v1 = 21; v2 = 16; sidefront = 40; blocking = true; }
linedef { v1 = 26; v2 = 27; sidefront = 41; sideback = 42; twosided = true; }
linedef { v1 = 27; v2 = 28; sidefront = 43; sideback = 44; twosided = true; }
linedef { v1 = 28; v2 = 29; sidefront = 45; sideback = 46; twosided = true; }
linedef { v1 = 29; v2 = 26; sidefront = 47; sideback = 48; twosided = true; }
linedef { v1 = 30; v2 = 23; sidefront = 49; blocking = true; }
linedef { v1 = 30; v2 = 31; sidefront = 50; sideback = 51; twosided = true; }
linedef { v1 = 24; v2 = 31; sidefront = 52; blocking = true; }
linedef { v1 = 32; v2 = 30; sidefront = 53; blocking = true; }
linedef { v1 = 32; v2 = 33; sidefront = 54; sideback = 55; twosided = true; }
linedef { v1 = 31; v2 = 33; sidefront = 56; blocking = true; }
linedef { v1 = 34; v2 = 32; sidefront = 57; blocking = true; }
linedef { v1 = 34; v2 = 35; sidefront = 58; sideback = 59; twosided = true; }
linedef { v1 = 33; v2 = 35; sidefront = 60; blocking = true; }
linedef { v1 = 36; v2 = 34; sidefront = 61; blocking = true; }
linedef { v1 = 36; v2 = 37; sidefront = 62; sideback = 63; twosided = true; }
linedef { v1 = 35; v2 = 37; sidefront = 64; blocking = true; }
linedef { v1 = 37; v2 = 38; sidefront = 65; blocking = true; }
linedef { v1 = 39; v2 = 36; sidefront = 66; blocking = true; }
linedef { v1 = 40; v2 = 39; sidefront = 67; blocking = true; }
linedef { v1 = 41; v2 = 40; sidefront = 68; blocking = true; }
linedef { v1 = 42; v2 = 41; sidefront = 69; blocking = true; }
linedef { v1 = 42; v2 = 43; sidefront = 70; sideback = 71; twosided = true; }
linedef { v1 = 38; v2 = 43; sidefront = 72; blocking = true; }
linedef { v1 = 13; v2 = 44; sidefront = 73; blocking = true; }
linedef { v1 = 45; v2 = 12; sidefront = 74; blocking = true; }
linedef { v1 = 45; v2 = 44; sidefront = 75; sideback = 76; twosided = true; }
linedef { v1 = 44; v2 = 46; sidefront = 77; blocking = true; }
linedef { v1 = 47; v2 = 45; sidefront = 78; blocking = true; }
linedef { v1 = 47; v2 = 46; sidefront = 79; sideback = 80; twosided = true; }
linedef { v1 = 46; v2 = 48; sidefront = 81; blocking = true; }
linedef { v1 = 49; v2 = 47; sidefront = 82; blocking = true; }
linedef { v1 = 49; v2 = 48; sidefront = 83; sideback = 84; twosided = true; }
linedef { v1 = 48; v2 = 50; sidefront = 85; blocking = true; }
linedef { v1 = 51; v2 = 49; sidefront = 86; blocking = true; }
linedef { v1 = 51; v2 = 50; sidefront = 87; sideback = 88; twosided = true; }
linedef { v1 = 52; v2 = 53; sidefront = 89; blocking = true; }
linedef { v1 = 50; v2 = 52; sidefront = 90; blocking = true; }
linedef { v1 = 54; v2 = 51; sidefront = 91; blocking = true; }
linedef { v1 = 55; v2 = 54; sidefront = 92; blocking = true; }
linedef { v1 = 55; v2 = 56; sidefront = 93; sideback = 94; twosided = true; }
linedef { v1 = 57; v2 = 56; sidefront = 95; blocking = true; }
linedef { v1 = 53; v2 = 57; sidefront = 96; blocking = true; }
linedef { v1 = 57; v2 = 58; sidefront = 97; sideback = 98; twosided = true; special = 62; id = 1; arg0 = 1; }
linedef { v1 = 58; v2 = 55; sidefront = 99; sideback = 100; twosided = true; special = 62; id = 1; arg0 = 1; }
linedef { v1 = 59; v2 = 55; sidefront = 101; blocking = true; }
linedef { v1 = 60; v2 = 59; sidefront = 102; blocking = true; }
linedef { v1 = 56; v2 = 60; sidefront = 103; blocking = true; }
linedef { v1 = 61; v2 = 9; sidefront = 104; blocking = true; }
linedef { v1 = 61; v2 = 62; sidefront = 105; sideback = 106; twosided = true; }
linedef { v1 = 10; v2 = 62; sidefront = 107; blocking = true; }
linedef { v1 = 62; v2 = 63; sidefront = 108; blocking = true; }
linedef { v1 = 64; v2 = 61; sidefront = 109; blocking = true; }
linedef { v1 = 65; v2 = 64; sidefront = 110; blocking = true; }
linedef { v1 = 65; v2 = 66; sidefront = 111; sideback = 112; twosided = true; }
linedef { v1 = 67; v2 = 66; sidefront = 113; blocking = true; }
linedef { v1 = 68; v2 = 67; sidefront = 114; blocking = true; }
linedef { v1 = 63; v2 = 68; sidefront = 115; blocking = true; }
linedef { v1 = 69; v2 = 65; sidefront = 116; blocking = true; }
linedef { v1 = 69; v2 = 70; sidefront = 117; sideback = 118; twosided = true; }
linedef { v1 = 66; v2 = 70; sidefront = 119; blocking = true; }
linedef { v1 = 71; v2 = 69; sidefront = 120; blocking = true; }
linedef { v1 = 71; v2 = 72; sidefront = 121; sideback = 122; twosided = true; }
linedef { v1 = 70; v2 = 72; sidefront = 123; blocking = true; }
linedef { v1 = 73; v2 = 71; sidefront = 124; blocking = true; }
linedef { v1 = 73; v2 = 74; sidefront = 125; sideback = 126; twosided = true; }
linedef { v1 = 72; v2 = 74; sidefront = 127; blocking = true; }
linedef { v1 = 43; v2 = 73; sidefront = 128; blocking = true; }
linedef { v1 = 74; v2 = 42; sidefront = 129; blocking = true; }
linedef { v1 = 75; v2 = 76; sidefront = 130; blocking = true; }
linedef { v1 = 77; v2 = 75; sidefront = 131; blocking = true; }
linedef { v1 = 78; v2 = 77; sidefront = 132; blocking = true; }
linedef { v1 = 76; v2 = 78; sidefront = 133; blocking = true; }
linedef { v1 = 79; v2 = 80; sidefront = 134; blocking = true; }
linedef { v1 = 81; v2 = 79; sidefront = 135; blocking = true; }
linedef { v1 = 82; v2 = 81; sidefront = 136; blocking = true; }
linedef { v1 = 80; v2 = 82; sidefront = 137; blocking = true; }
linedef { v1 = 83; v2 = 84; sidefront = 138; blocking = true; }
linedef { v1 = 85; v2 = 83; sidefront = 139; blocking = true; }
linedef { v1 = 86; v2 = 85; sidefront = 140; blocking = true; }
linedef { v1 = 84; v2 = 86; sidefront = 141; blocking = true; }
linedef { v1 = 87; v2 = 88; sidefront = 142; blocking = true; }
linedef { v1 = 89; v2 = 87; sidefront = 143; blocking = true; }
linedef { v1 = 90; v2 = 89; sidefront = 144; blocking = true; }
linedef { v1 = 91; v2 = 90; sidefront = 145; blocking = true; }
linedef { v1 = 88; v2 = 91; sidefront = 146; blocking = true; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 2; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 1; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 3; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 18; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 11; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 1; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 1; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 1; texturemiddle = "BRICK1"; }
sidedef { sector = 2; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 2; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 2; texturemiddle = "BRICK1"; }
sidedef { sector = 3; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 3; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 3; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 6; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturemiddle = "BRICK1"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 5; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 5; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 5; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 4; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 5; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 6; texturemiddle = "BRICK1"; }
sidedef { sector = 7; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 6; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 6; texturemiddle = "BRICK1"; }
sidedef { sector = 7; texturemiddle = "BRICK1"; }
sidedef { sector = 8; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 7; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 7; texturemiddle = "BRICK1"; }
sidedef { sector = 8; texturemiddle = "BRICK1"; }
sidedef { sector = 9; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 8; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 8; texturemiddle = "BRICK1"; }
sidedef { sector = 9; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 9; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 9; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 23; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 10; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 11; texturemiddle = "BRICK1"; }
sidedef { sector = 11; texturemiddle = "BRICK1"; }
sidedef { sector = 12; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 11; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 12; texturemiddle = "BRICK1"; }
sidedef { sector = 12; texturemiddle = "BRICK1"; }
sidedef { sector = 13; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 12; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 13; texturemiddle = "BRICK1"; }
sidedef { sector = 13; texturemiddle = "BRICK1"; }
sidedef { sector = 14; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 13; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 14; texturemiddle = "BRICK1"; }
sidedef { sector = 14; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 14; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 17; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 16; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 16; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 16; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 15; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 16; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 17; texturemiddle = "BRICK1"; }
sidedef { sector = 17; texturemiddle = "BRICK1"; }
sidedef { sector = 17; texturemiddle = "BRICK1"; }
sidedef { sector = 18; texturemiddle = "BRICK1"; }
sidedef { sector = 19; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 18; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 18; texturemiddle = "BRICK1"; }
sidedef { sector = 19; texturemiddle = "BRICK1"; }
sidedef { sector = 19; texturemiddle = "BRICK1"; }
sidedef { sector = 19; texturemiddle = "BRICK1"; }
sidedef { sector = 20; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 19; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 19; texturemiddle = "BRICK1"; }
sidedef { sector = 19; texturemiddle = "BRICK1"; }
sidedef { sector = 19; texturemiddle = "BRICK1"; }
sidedef { sector = 20; texturemiddle = "BRICK1"; }
sidedef { sector = 21; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 20; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 20; texturemiddle = "BRICK1"; }
sidedef { sector = 21; texturemiddle = "BRICK1"; }
sidedef { sector = 22; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 21; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 21; texturemiddle = "BRICK1"; }
sidedef { sector = 22; texturemiddle = "BRICK1"; }
sidedef { sector = 23; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 22; texturetop = "BRICK1"; texturebottom = "BRICK1"; texturemiddle = "-"; }
sidedef { sector = 22; texturemiddle = "BRICK1"; }
sidedef { sector = 23; texturemiddle = "BRICK1"; }
sidedef { sector = 23; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 0; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 10; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sidedef { sector = 15; texturemiddle = "BRICK1"; }
sector { heightfloor = 0; heightceiling = 192; texturefloor = "FLOOR4_8"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 0; heightceiling = 0; texturefloor = "FLOOR4_8"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 40; heightceiling = 120; texturefloor = "FLAT1"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 40; heightceiling = 120; texturefloor = "FLAT1"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 0; heightceiling = 320; texturefloor = "GRASS1"; textureceiling = "F_SKY1"; lightlevel = 208; }
sector { heightfloor = 24; heightceiling = 320; texturefloor = "FLOOR5_1"; textureceiling = "F_SKY1"; lightlevel = 208; }
sector { heightfloor = 24; heightceiling = 288; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 48; heightceiling = 288; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 72; heightceiling = 288; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 96; heightceiling = 288; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = 96; heightceiling = 288; texturefloor = "FLOOR4_1"; textureceiling = "CEIL1_1"; lightlevel = 176; }
sector { heightfloor = -24; heightceiling = 112; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = -48; heightceiling = 112; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = -72; heightceiling = 112; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = -96; heightceiling = 112; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = -96; heightceiling = 64; texturefloor = "FLOOR0_1"; textureceiling = "CEIL1_1"; lightlevel = 112; }
sector { heightfloor = 0; heightceiling = 64; texturefloor = "FLOOR0_3"; textureceiling = "CEIL1_1"; lightlevel = 128; id = 1; }
sector { heightfloor = 0; heightceiling = 96; texturefloor = "FLOOR0_3"; textureceiling = "CEIL1_1"; lightlevel = 160; }
sector { heightfloor = 0; heightceiling = 128; texturefloor = "FLOOR4_8"; textureceiling = "CEIL1_1"; lightlevel = 128; }
sector { heightfloor = 0; heightceiling = 144; texturefloor = "FLOOR4_8"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = 24; heightceiling = 168; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = 48; heightceiling = 192; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = 72; heightceiling = 216; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 144; }
sector { heightfloor = 96; heightceiling = 216; texturefloor = "STEP2"; textureceiling = "CEIL1_1"; lightlevel = 160; }
thing { x = 128; y = 128; angle = 45; type = 1; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 128; y = 192; angle = 0; type = 2; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 192; y = 128; angle = 90; type = 3; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 192; y = 192; angle = 45; type = 4; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 640; y = 96; angle = 135; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 96; y = 448; angle = 315; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1500; y = 0; angle = 135; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1216; y = 1280; angle = 270; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = -700; y = 64; angle = 45; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 160; y = 1152; angle = 0; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 880; y = 640; angle = 315; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 960; y = 1024; angle = 0; type = 11; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 640; y = 400; angle = 225; type = 3004; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 560; y = 96; angle = 180; type = 3004; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1000; y = 600; angle = 270; type = 9; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1216; y = 320; angle = 180; type = 3001; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1480; y = 620; angle = 225; type = 3001; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1480; y = 40; angle = 180; type = 3004; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1216; y = 1040; angle = 270; type = 9; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1480; y = 1260; angle = 225; type = 65; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 940; y = 1260; angle = 315; type = 3001; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = -560; y = 96; angle = 0; type = 3001; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = -600; y = 300; angle = 0; type = 3002; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 400; y = 1100; angle = 270; type = 3004; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = -704; y = 576; angle = 270; type = 58; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 400; y = 80; angle = 0; type = 2012; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 60; y = 60; angle = 0; type = 2007; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 700; y = 460; angle = 0; type = 2001; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1216; y = 320; angle = 0; type = 2018; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 900; y = 0; angle = 0; type = 2014; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 932; y = 0; angle = 0; type = 2014; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 964; y = 0; angle = 0; type = 2014; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1560; y = 700; angle = 0; type = 2008; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 1216; y = 1200; angle = 0; type = 2049; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = -300; y = 60; angle = 0; type = 2011; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = -300; y = 440; angle = 0; type = 2012; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 160; y = 940; angle = 0; type = 2008; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = 540; y = 1160; angle = 0; type = 2002; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
thing { x = -704; y = 600; angle = 0; type = 2019; skill1 = true; skill2 = true; skill3 = true; skill4 = true; skill5 = true; single = true; dm = true; coop = true; }
)UDMF";

}  // namespace

std::string_view builtin_map_text() { return builtin_udmf; }

}  // namespace ashlar
