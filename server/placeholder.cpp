#include "protocol/version.h"
