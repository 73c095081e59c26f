// A report as text for a terminal.
#include "osler/report/render.h"
