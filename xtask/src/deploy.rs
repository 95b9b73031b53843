//! `cargo xtask package`: what operators install. The Debian package and the container image are written by this program,
//! without tools of Debian and without a daemon.

mod archive;
mod deb;
mod image;
mod payload;
mod trial;

use std::{fs, path::PathBuf};

use crate::workspace::root;
use payload::Payload;

const USAGE: &str = "usage: cargo xtask package deb|image [--program FILE] [--version VERSION]\n       cargo xtask package try [--program FILE]";

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Package {
    Deb,
    Image,
}

#[derive(Debug, PartialEq)]
struct Order {
    package: Package,
    /// The program to pack; by default it is built for a release.
    program: Option<PathBuf>,
    version: Option<String>,
}

/// Runs `cargo xtask package`.
pub fn command(arguments: &[String]) -> Result<bool, String> {
    match arguments {
        [verb] if verb == "try" => return trial::run(payload::tested()?),
        [verb, option, program] if verb == "try" && option == "--program" => {
            return trial::run(PathBuf::from(program));
        }
        _ => {}
    }
    let order = Order::parse(arguments)?;
    let program = order.program.map_or_else(payload::release, Ok)?;
    let version = order.version.map_or_else(payload::version, Ok)?;
    let payload = Payload::of(&program, &version)?;
    let written = match order.package {
        Package::Deb => write(&deb::file_name(&payload), &deb::package(&payload)?)?,
        Package::Image => write("selfsame-image.tar", &image::archive(&payload)?)?,
    };
    let digest = payload::sha256(&payload::read(&written)?)?;
    println!("{}\nsha256 {digest}", written.display());
    Ok(true)
}

/// Writes a package into `target/package`.
fn write(name: &str, content: &[u8]) -> Result<PathBuf, String> {
    let file = root().join("target/package").join(name);
    fs::write(&file, content).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file)
}

impl Order {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let usage = || USAGE.to_owned();
        let mut arguments = arguments.iter();
        let package = match arguments.next().map(String::as_str) {
            Some("deb") => Package::Deb,
            Some("image") => Package::Image,
            _ => return Err(usage()),
        };
        let (mut program, mut version) = (None, None);
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or_else(usage)?;
            match argument.as_str() {
                "--program" => program = Some(PathBuf::from(value)),
                "--version" => version = Some(value.clone()),
                _ => return Err(usage()),
            }
        }
        Ok(Self {
            package,
            program,
            version,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{archive::Entry, payload::Library, *};
    use crate::processor::PROCESSORS;

    /// A payload that needs no build.
    pub fn payload() -> Payload {
        Payload {
            program: b"\x7fELF GLIBC_2.17 GLIBC_2.36 GLIBC_2.2.5".to_vec(),
            processor: &PROCESSORS[0],
            libraries: vec![Library {
                path: "/lib/libc.so.6".into(),
                content: b"a library".to_vec(),
            }],
            pages: vec![Entry::file("usr/share/man/man1/selfsame.1.gz", "a page")],
            completions: vec![Entry::file(
                "usr/share/bash-completion/completions/selfsame",
                "words",
            )],
            time: 1_790_000_000,
            version: "1.2.3".to_owned(),
        }
    }

    #[test]
    fn a_package_is_ordered_with_a_program_and_a_version_or_without() {
        let order = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            Order::parse(&words)
        };
        let plain = order("image").unwrap();
        assert_eq!((plain.package, plain.program), (Package::Image, None));
        let whole = order("deb --program target/debug/selfsame --version 9").unwrap();
        assert_eq!(whole.version.as_deref(), Some("9"));
        for wrong in ["", "rpm", "deb --version", "deb --colour blue"] {
            assert!(order(wrong).is_err(), "{wrong}");
        }
    }
}
