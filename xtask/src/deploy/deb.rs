//! The Debian package (deb(5)), written without tools of Debian: an ar archive of two compressed tar archives.

use std::fmt::Write as _;

use crate::workspace::root;

use super::{
    archive::{Entry, Member, ar, tar, with_folders},
    payload::{Payload, gzip, md5, read},
};

/// The settings, which stay as the operator changes them.
const SETTINGS: &str = "etc/selfsame/selfsame.toml";
/// The scripts of dpkg, in `deploy/debian/`.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];
/// Where a library comes from: the beginning of its name, and the package.
const PACKAGES: [(&str, &str); 5] = [
    ("ld-linux", "libc6"),
    ("libc.so", "libc6"),
    ("libm.so", "libc6"),
    ("libgcc_s", "libgcc-s1"),
    ("libstdc++", "libstdc++6"),
];
/// What operators read and copy, beside the manual pages: the file in the repository, and its folder.
const DOCUMENTS: [(&str, &str); 9] = [
    ("docs/install.md", ""),
    ("docs/settings.md", ""),
    ("docs/backup.md", ""),
    ("docs/keys.md", ""),
    ("docs/monitoring.md", ""),
    ("deploy/proxy/Caddyfile", "examples/"),
    ("deploy/proxy/nginx.conf", "examples/"),
    ("deploy/prometheus/alerts.yml", "examples/"),
    ("deploy/grafana/selfsame.json", "examples/"),
];

/// The name of the package's file.
pub fn file_name(payload: &Payload) -> String {
    format!(
        "selfsame_{}_{}.deb",
        payload.version, payload.processor.debian
    )
}

/// The package.
pub fn package(payload: &Payload) -> Result<Vec<u8>, String> {
    let data = data(payload)?;
    let control = control(payload, &data)?;
    let compressed = |entries: &[Entry]| gzip(&tar(entries, "./", payload.time)?);
    let (control, data) = (compressed(&control)?, compressed(&data)?);
    let members = [
        Member {
            name: "debian-binary",
            content: b"2.0\n",
        },
        Member {
            name: "control.tar.gz",
            content: &control,
        },
        Member {
            name: "data.tar.gz",
            content: &data,
        },
    ];
    Ok(ar(&members, payload.time))
}

/// The files that are installed.
fn data(payload: &Payload) -> Result<Vec<Entry>, String> {
    let ours = |path: &str| read(&root().join(path));
    let mut entries = vec![
        Entry::file("usr/bin/selfsame", payload.program.clone()).mode(0o755),
        Entry::file(SETTINGS, ours("deploy/debian/selfsame.toml")?),
        Entry::file(
            "lib/systemd/system/selfsame.service",
            ours("deploy/debian/selfsame.service")?,
        ),
        Entry::file(
            "usr/share/doc/selfsame/copyright",
            ours("deploy/debian/copyright")?,
        ),
        Entry::file(
            "usr/share/doc/selfsame/changelog.gz",
            gzip(&ours("CHANGELOG.md")?)?,
        ),
    ];
    for (file, folder) in DOCUMENTS {
        let name = file.rsplit('/').next().unwrap_or(file);
        entries.push(Entry::file(
            &format!("usr/share/doc/selfsame/{folder}{name}"),
            ours(file)?,
        ));
    }
    entries.extend(payload.pages.iter().cloned());
    entries.extend(payload.completions.iter().cloned());
    Ok(with_folders(entries))
}

/// What dpkg knows of the package.
fn control(payload: &Payload, data: &[Entry]) -> Result<Vec<Entry>, String> {
    let size: usize = data
        .iter()
        .map(|entry| entry.content().len().div_ceil(1024))
        .sum();
    let about = format!(
        "Package: selfsame\nVersion: {}\nArchitecture: {}\nMaintainer: Selfsame contributors <selfsame@localhost>\n\
         Installed-Size: {size}\nDepends: {}\nRecommends: ca-certificates\nSection: net\nPriority: optional\n\
         Description: issue, hold, present and verify verifiable credentials\n \
         An issuer, a wallet, a verifier and a registry in one program, with a service\n \
         of systemd. It speaks OpenID4VCI, OpenID4VP, OpenID Connect and DIDComm.\n",
        payload.version,
        payload.processor.debian,
        depends(payload)?,
    );
    let mut sums = String::new();
    let files = data
        .iter()
        .filter(|entry| !entry.content().is_empty() && entry.path != SETTINGS);
    for entry in files {
        let _infallible = writeln!(sums, "{}  {}", md5(entry.content())?, entry.path);
    }
    let mut entries = vec![
        Entry::file("control", about),
        Entry::file("conffiles", format!("/{SETTINGS}\n")),
        Entry::file("md5sums", sums),
    ];
    for name in SCRIPTS {
        let script = read(&root().join("deploy/debian").join(name))?;
        entries.push(Entry::file(name, script).mode(0o755));
    }
    Ok(entries)
}

/// The packages that the program's libraries are in, with the version of the C library whose symbols it uses.
fn depends(payload: &Payload) -> Result<String, String> {
    let mut packages = vec![format!("libc6 (>= {})", c_library(&payload.program))];
    for library in &payload.libraries {
        let name = library
            .path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let known = PACKAGES.iter().find(|(begin, _)| name.starts_with(begin));
        let (_, package) = known
            .ok_or_else(|| format!("{name}: the program needs a library of an unknown package"))?;
        if *package != "libc6" {
            packages.push((*package).to_owned());
        }
    }
    packages.sort();
    packages.dedup();
    Ok(packages.join(", "))
}

/// The newest version of the C library that a program names.
fn c_library(program: &[u8]) -> String {
    const MARK: &[u8] = b"GLIBC_2.";
    let mut newest = 0;
    for at in 0..program.len().saturating_sub(MARK.len()) {
        if program[at..].starts_with(MARK) {
            let digits = program[at + MARK.len()..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit());
            let digits: String = digits.take(3).map(|byte| char::from(*byte)).collect();
            newest = newest.max(digits.parse().unwrap_or(0));
        }
    }
    format!("2.{newest}")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::tests::payload;
    use super::*;

    /// What a tool of Debian says of the package.
    fn told(arguments: &[&str]) -> String {
        let folder = std::env::temp_dir().join(format!(
            "selfsame-deb-{}-{}",
            std::process::id(),
            arguments[0]
        ));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("selfsame.deb");
        std::fs::write(&file, package(&payload()).unwrap()).unwrap();
        let output = Command::new("dpkg-deb")
            .args(arguments)
            .arg(&file)
            .output()
            .unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn debian_reads_the_package_and_finds_its_files_with_their_owners() {
        let contents = told(&["--contents"]);
        for line in [
            "-rwxr-xr-x 0/0",
            "./usr/bin/selfsame",
            "./etc/selfsame/selfsame.toml",
            "./lib/systemd/system/selfsame.service",
            "./usr/share/man/man1/selfsame.1.gz",
            "./usr/share/bash-completion/completions/selfsame",
            "./usr/share/doc/selfsame/examples/nginx.conf",
        ] {
            assert!(contents.contains(line), "{line} in {contents}");
        }
        assert!(
            contents.lines().all(|line| line.contains(" 0/0 ")),
            "{contents}"
        );
        let info = told(&["--info"]);
        for line in [
            "Package: selfsame",
            "Version: 1.2.3",
            "libc6 (>= 2.36)",
            "conffiles",
            "postinst",
            "postrm",
        ] {
            assert!(info.contains(line), "{line} in {info}");
        }
    }

    #[test]
    fn the_same_input_has_the_same_bytes() {
        assert_eq!(package(&payload()).unwrap(), package(&payload()).unwrap());
    }

    #[test]
    fn the_scripts_are_shell_without_bashisms() {
        for name in SCRIPTS {
            let script = root().join("deploy/debian").join(name);
            let checked = Command::new("sh").arg("-n").arg(&script).status().unwrap();
            assert!(checked.success(), "{name}");
            let text = std::fs::read_to_string(&script).unwrap();
            assert!(
                text.starts_with("#!/bin/sh\n") && text.contains("\nset -e\n"),
                "{name}"
            );
        }
    }

    #[test]
    fn systemd_finds_the_unit_hardened() {
        let unit = root().join("deploy/debian/selfsame.service");
        let judged = Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--threshold=20"])
            .arg(&unit)
            .output();
        // Not every machine has systemd.
        if let Ok(judged) = judged {
            assert!(judged.status.success(), "{judged:?}");
        }
        let unit = std::fs::read_to_string(unit).unwrap();
        for line in [
            "Type=notify",
            "DynamicUser=yes",
            "ProtectSystem=strict",
            "NoNewPrivileges=yes",
            "MemoryMax=1G",
        ] {
            assert!(unit.lines().any(|own| own == line), "{line}");
        }
    }

    #[test]
    fn a_library_of_an_unknown_package_is_refused() {
        let mut unknown = payload();
        unknown.libraries[0].path = "/lib/libelsewhere.so.1".into();
        assert!(package(&unknown).unwrap_err().contains("libelsewhere"));
    }
}
