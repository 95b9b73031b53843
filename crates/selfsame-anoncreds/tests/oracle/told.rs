//! Settings that `cargo xtask cross anoncreds` passes to its tests by environment variables.

/// The number given by `--count N`, or `few`.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells the count by the environment"
)]
pub fn count(few: u64) -> u64 {
    let count = std::env::var("SELFSAME_CROSS_COUNT").ok();
    count.map_or(few, |count| count.parse().expect("a number"))
}

/// Selects the path that `--adx` or `--portable` names, with the given functions that force either; otherwise the
/// processor's fastest.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells the path by the environment"
)]
pub fn take_path(force_adx: fn(), force_portable: fn()) {
    match std::env::var("SELFSAME_CROSS_PATH").as_deref() {
        Ok("adx") => force_adx(),
        Ok("portable") => force_portable(),
        Ok(other) => panic!("there is no path {other}"),
        Err(_) => {}
    }
}

/// Reports the progress of a longer run at intervals.
#[allow(
    clippy::disallowed_macros,
    clippy::print_stderr,
    reason = "half an hour without a word looks like standstill"
)]
pub fn say(what: &str, done: u64, of: u64) {
    if done > 0 && done.is_multiple_of(100) {
        eprintln!("{what}: {done} of {of}");
    }
}
