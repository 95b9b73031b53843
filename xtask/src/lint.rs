//! Lints while building: Clippy's compiler compiles the tests, so that no second pass over all crates is needed.

use std::path::PathBuf;
use std::process::Command;

use crate::workspace::{output, root};

/// The tasks that build tests. They share what they have built, so all of them build it by one compiler.
const TASKS: &[&str] = &["test", "cross", "faults"];
/// What cargo calls in place of the compiler, for the members of the workspace alone.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";
/// The lints' arguments. Clippy's cargo command separates them like this, and so does its compiler.
const ARGUMENTS: (&str, &str) = (
    "CLIPPY_ARGS",
    "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
);

/// Whether this task builds tests, and is not told yet by what.
pub fn is_wanted(task: &str) -> bool {
    #[allow(
        clippy::disallowed_methods,
        reason = "the environment is how cargo and its children are told"
    )]
    let is_told = std::env::var_os(WRAPPER).is_some();
    TASKS.contains(&task) && !is_told
}

/// Runs this program with the same words and with Clippy's compiler named in the environment, for all that it starts.
pub fn run_again(task: &str, rest: &[String]) -> Result<bool, String> {
    let program = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    let status = Command::new(program)
        .arg(task)
        .args(rest)
        .env(WRAPPER, compiler()?)
        .env(ARGUMENTS.0, ARGUMENTS.1)
        .status();
    Ok(status.map_err(|error| format!("xtask: {error}"))?.success())
}

/// Lets cargo build by the compiler alone, for programs that are not members of the workspace and keep no lints of it.
pub fn without(command: &mut Command) -> &mut Command {
    command.env_remove(WRAPPER).env_remove(ARGUMENTS.0)
}

/// Clippy's compiler, which lies beside the compiler.
fn compiler() -> Result<PathBuf, String> {
    let folder = output(&root(), "rustc", &["--print", "sysroot"])?;
    let program = PathBuf::from(folder.trim()).join("bin/clippy-driver");
    match program.is_file() {
        true => Ok(program),
        false => Err(format!(
            "{}: not there\nhint: rustup component add clippy",
            program.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tasks_that_build_tests_are_linted() {
        assert!(!is_wanted("tidy") && !is_wanted("package") && !is_wanted("help"));
    }

    #[test]
    fn the_compiler_with_lints_is_there_and_refuses_what_they_deny() {
        let folder = std::env::temp_dir().join(format!("selfsame-lint-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("one.rs");
        std::fs::write(&file, "pub fn one() -> u32 { return 1; }\n").unwrap();
        let linted = Command::new(compiler().unwrap())
            .args(["rustc", "--crate-type", "lib", "--out-dir"])
            .args([&folder, &file])
            .env("CLIPPY_ARGS", ARGUMENTS.1)
            .output();
        let linted = linted.unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let said = String::from_utf8_lossy(&linted.stderr);
        assert!(
            !linted.status.success() && said.contains("needless_return"),
            "{said}"
        );
    }
}
