"""Programs around the library: they read, call and write, and compute nothing."""
