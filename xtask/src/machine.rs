//! Programs and libraries that the tests need from the machine, installed with the system's package manager.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// A program or library that the tests start or build with, and its Debian package.
struct Program {
    names: &'static [&'static str],
    probe: Probe,
    package: &'static str,
    purpose: &'static str,
}

/// How to find out whether a program or library is installed.
#[derive(Clone, Copy)]
enum Probe {
    /// A program that exits successfully when called with this argument.
    Asks(&'static str),
    /// A program that has no such argument, but starts.
    Starts,
    /// A library's header that the C compiler finds.
    Header,
    /// A program on PATH, or a directory.
    Installed,
}

const PROGRAMS: &[Program] = &[
    Program {
        names: &["chromium", "chromium-browser", "google-chrome"],
        probe: Probe::Asks("--version"),
        package: "chromium",
        purpose: "walks through the pages",
    },
    Program {
        names: &["chromedriver"],
        probe: Probe::Asks("--version"),
        package: "chromium-driver",
        purpose: "drives Chromium",
    },
    Program {
        names: &["javac"],
        probe: Probe::Asks("--version"),
        package: "default-jdk-headless",
        purpose: "speaks TLS with ours",
    },
    Program {
        names: &["openssl"],
        probe: Probe::Asks("version"),
        package: "openssl",
        purpose: "speaks TLS with ours",
    },
    Program {
        names: &["postgres", "/usr/lib/postgresql"],
        probe: Probe::Installed,
        package: "postgresql",
        purpose: "keeps an instance's records",
    },
    Program {
        names: &["patroni"],
        probe: Probe::Asks("--version"),
        package: "patroni",
        purpose: "lets a standby take the place of a PostgreSQL server",
    },
    Program {
        names: &["etcd"],
        probe: Probe::Asks("--version"),
        package: "etcd-server",
        purpose: "keeps for Patroni which PostgreSQL server is the primary",
    },
    Program {
        names: &["softhsm2-util"],
        probe: Probe::Asks("--version"),
        package: "softhsm2",
        purpose: "keeps keys as a hardware security module does",
    },
    Program {
        names: &["/usr/sbin/nginx"],
        probe: Probe::Asks("-v"),
        package: "nginx-light",
        purpose: "balances between processes",
    },
    Program {
        names: &["gnutls-serv"],
        probe: Probe::Asks("--version"),
        package: "gnutls-bin",
        purpose: "speaks TLS with ours",
    },
    Program {
        names: &["selfserv"],
        probe: Probe::Starts,
        package: "libnss3-tools",
        purpose: "speaks TLS with ours",
    },
    Program {
        names: &["wolfssl/options.h"],
        probe: Probe::Header,
        package: "libwolfssl-dev",
        purpose: "speaks TLS with ours",
    },
];

/// The services of packages, which the tests start by themselves, on ports of their own.
const SERVICES: &[(&str, &str)] = &[
    ("caddy", "caddy"),
    ("etcd-server", "etcd"),
    ("nginx-light", "nginx"),
    ("patroni", "patroni"),
    ("postgresql", "postgresql"),
    ("prometheus", "prometheus"),
];

/// Runs a command while Debian's packages start no services, which would hold their ports. A policy that the machine has
/// stays as it is.
const WITHOUT_SERVICES: &str = r#"policy=/usr/sbin/policy-rc.d
[ -e "$policy" ] && exec "$@"
trap 'rm -f "$policy"' EXIT
printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && "$@""#;

impl Program {
    fn is_browser(&self) -> bool {
        self.package.starts_with("chromium")
    }

    fn is_there(&self) -> bool {
        self.names.iter().any(|name| match self.probe {
            Probe::Asks(question) => answers(name, question),
            Probe::Starts => asked(name, "-?").is_some(),
            Probe::Header => has_header(name),
            Probe::Installed => Path::new(name).is_dir() || answers(name, "--version"),
        })
    }
}

/// Installs whatever is missing; skips Chromium unless `with_browser` is set.
pub fn prepare(with_browser: bool) -> Result<(), String> {
    if !runs("cc") {
        return Err("no C compiler: SQLite and the cryptography are built from source\nhint: apt-get install build-essential".to_owned());
    }
    let missing: Vec<&Program> = PROGRAMS
        .iter()
        .filter(|program| with_browser || !program.is_browser())
        .filter(|program| !program.is_there())
        .collect();
    if missing.is_empty() {
        let browser = if with_browser {
            " Chromium, its driver,"
        } else {
            ""
        };
        println!(
            "    a C compiler,{browser} Java, OpenSSL, GnuTLS, NSS, wolfSSL, PostgreSQL, Patroni, etcd, SoftHSM and nginx are there"
        );
        return Ok(());
    }
    for program in &missing {
        println!("    missing: {} ({})", program.package, program.purpose);
    }
    install(
        &missing
            .iter()
            .map(|program| program.package)
            .collect::<Vec<_>>(),
    )
}

/// Installs Debian packages, as root or with sudo.
pub fn install(packages: &[&str]) -> Result<(), String> {
    let list = packages.join(" ");
    if !runs("apt-get") {
        return Err(format!(
            "this is not a Debian system, so nothing was installed\nhint: install what Debian calls {list} so that it is on PATH; --skip browser does without Chromium, --skip oracle without Python, --skip npm without Node.js; Java, OpenSSL, GnuTLS, NSS's tools and wolfSSL speak TLS with ours, and what needs Rust alone is run by: cargo xtask test --skip machine -- --workspace"
        ));
    }
    let prefix: &[&str] = if is_root()? { &[] } else { &["sudo"] };
    if !prefix.is_empty() && !runs("sudo") {
        return Err(format!(
            "installing {list} needs root, and there is no sudo\nhint: as root, apt-get install {list}"
        ));
    }
    println!("    installing {list} with apt-get");
    apt(prefix, &["update"])?;
    let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    apt(prefix, &arguments)?;
    for (_, service) in SERVICES.iter().filter(|(own, _)| packages.contains(own)) {
        let words = [prefix, &["systemctl", "disable", service]].concat();
        if let Some((program, rest)) = words.split_first() {
            // A machine without systemd starts no service by itself.
            let _disabled = quiet(Command::new(program).args(rest));
        }
    }
    Ok(())
}

fn apt(prefix: &[&str], arguments: &[&str]) -> Result<(), String> {
    let words: Vec<&str> = [
        prefix,
        &["env", "DEBIAN_FRONTEND=noninteractive"],
        &["sh", "-c", WITHOUT_SERVICES, "sh", "apt-get", "-qq"],
        arguments,
    ]
    .concat();
    let shown = [prefix, &["apt-get"], arguments].concat().join(" ");
    let (program, rest) = words.split_first().ok_or("nothing to run")?;
    let status = Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("`{shown}` failed\nhint: run it by hand to see why")),
        Err(error) => Err(format!("`{shown}`: {error}")),
    }
}

fn is_root() -> Result<bool, String> {
    let output = Command::new("id")
        .arg("-u")
        .output()
        .map_err(|error| format!("id -u: {error}"))?;
    Ok(output.stdout.trim_ascii() == b"0")
}

/// Whether a program is on PATH and starts.
pub fn runs(program: &str) -> bool {
    answers(program, "--version")
}

/// Whether the C compiler finds a header.
fn has_header(name: &str) -> bool {
    let arguments = ["-fsyntax-only", "-include", name, "-x", "c", "/dev/null"];
    let mut compiler = Command::new("cc");
    quiet(compiler.args(arguments)).is_some_and(|status| status.success())
}

/// Whether a program exits successfully when called with this argument.
pub fn answers(program: &str, question: &str) -> bool {
    asked(program, question).is_some_and(|status| status.success())
}

/// The exit status of a program called with this argument; `None` if the program does not start.
fn asked(program: &str, question: &str) -> Option<ExitStatus> {
    quiet(Command::new(program).arg(question))
}

fn quiet(command: &mut Command) -> Option<ExitStatus> {
    let command = command.stdin(Stdio::null());
    let started = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    started.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_does_not_run() {
        assert!(runs("cargo"));
        assert!(!runs("selfsame-there-is-no-such-program"));
        assert!(asked("selfsame-there-is-no-such-program", "-?").is_none());
        assert!(has_header("stdio.h"));
        assert!(!has_header("selfsame/there_is_no_such_header.h"));
    }
}
