//! Development tasks: `cargo xtask tidy`, `cargo xtask test`.

fn main() {}
