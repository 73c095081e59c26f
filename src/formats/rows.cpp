// Rows of named numbers become events.
#include "formats/rows.h"
