//! Evidence and staples over an instance in memory.
