//! The `selfsame` command.

fn main() {}
