// What the terminal can show.
