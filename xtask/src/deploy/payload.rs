//! What packages hold: the program, the libraries that it needs, its manual pages and its completions.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::processor::{Cross, Processor};
use crate::workspace::{cargo, output, root};

use super::archive::Entry;

/// The program without what debuggers need, and what it says of itself.
pub struct Payload {
    pub program: Vec<u8>,
    /// What the program runs on.
    pub processor: &'static Processor,
    pub libraries: Vec<Library>,
    /// The manual pages, each with its name.
    pub pages: Vec<Entry>,
    /// The completions of each shell.
    pub completions: Vec<Entry>,
    /// The time of all files, in seconds since 1970: that of the last commit, so that the same source has the same bytes.
    pub time: u64,
    pub version: String,
}

/// A shared library that the program needs.
pub struct Library {
    /// Where the program looks for it.
    pub path: PathBuf,
    pub content: Vec<u8>,
}

/// Where completions are looked for, by shell.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/selfsame"),
    ("zsh", "usr/share/zsh/vendor-completions/_selfsame"),
    ("fish", "usr/share/fish/vendor_completions.d/selfsame.fish"),
];

impl Payload {
    /// Of this program.
    pub fn of(program: &Path, version: &str) -> Result<Self, String> {
        let scratch = root().join("target/package/scratch");
        let _not_there = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        let processor = Processor::of(&read(program)?)?;
        let (text, stripped) = (path(program)?, scratch.join("selfsame"));
        output(
            &root(),
            &processor.tool("strip"),
            &["-o", path(&stripped)?, text],
        )?;
        let start = processor.starting(text);
        let says = |words: &[&str]| {
            let words = [&start[..], words].concat();
            let (first, rest) = words.split_first().ok_or("nothing to run")?;
            output(&root(), first, rest)
        };
        let manual = scratch.join("man");
        says(&["manual", path(&manual)?])?;
        let mut pages = Vec::new();
        for name in names(&manual)? {
            let page = read(&manual.join(&name))?;
            pages.push(Entry::file(
                &format!("usr/share/man/man1/{name}.gz"),
                gzip(&page)?,
            ));
        }
        let mut completions = Vec::new();
        for (shell, at) in COMPLETIONS {
            completions.push(Entry::file(at, says(&["completions", shell])?));
        }
        let libraries = match processor.foreign() {
            Some(cross) => {
                let listed = output(&root(), &processor.tool("readelf"), &["-d", "-l", text])?;
                foreign_libraries(&listed, cross)?
            }
            None => libraries(&output(&root(), "ldd", &[text])?)?,
        };
        Ok(Self {
            program: read(&stripped)?,
            processor,
            libraries,
            pages,
            completions,
            time: time()?,
            version: version.to_owned(),
        })
    }
}

/// Builds the program for a release, and returns its path.
pub fn release() -> Result<PathBuf, String> {
    build(
        &["build", "--release", "--locked", "--package", "selfsame"],
        "release",
    )
}

/// The program as the tests build it.
pub fn tested() -> Result<PathBuf, String> {
    build(&["build", "--workspace", "--bin", "selfsame"], "debug")
}

fn build(arguments: &[&str], profile: &str) -> Result<PathBuf, String> {
    let status = Command::new(cargo())
        .args(arguments)
        .current_dir(root())
        .status();
    match status {
        Ok(status) if status.success() => Ok(root().join("target").join(profile).join("selfsame")),
        Ok(_) => Err(format!("`cargo {}` failed", arguments.join(" "))),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// The libraries that ldd names, where it found them. The kernel's own has no file.
fn libraries(listed: &str) -> Result<Vec<Library>, String> {
    let mut libraries = Vec::new();
    for line in listed.lines().map(str::trim) {
        let named = line
            .split_once("=>")
            .map_or(line, |(_, found)| found.trim());
        let Some(at) = named
            .split_whitespace()
            .next()
            .filter(|at| at.starts_with('/'))
        else {
            if line.contains("not found") {
                return Err(format!("ldd: {line}"));
            }
            continue;
        };
        libraries.push(Library {
            path: PathBuf::from(at),
            content: read(Path::new(at))?,
        });
    }
    libraries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(libraries)
}

/// The libraries and the loader that readelf names, from the C library of another processor. The libraries come to where
/// Debian's loader looks for them.
fn foreign_libraries(listed: &str, cross: &Cross) -> Result<Vec<Library>, String> {
    let mut paths = Vec::new();
    for line in listed.lines() {
        let bracketed = line
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'));
        let Some((text, _)) = bracketed else {
            continue;
        };
        if line.contains("(NEEDED)") && !text.starts_with("ld-linux") {
            paths.push(Path::new("/lib").join(cross.tools).join(text));
        }
        if let Some((_, loader)) = text.split_once("program interpreter: ") {
            paths.push(PathBuf::from(loader));
        }
    }
    let folder = Path::new(cross.libraries).join("lib");
    let libraries = paths.into_iter().map(|path| {
        let name = path.file_name().ok_or("a library without a name")?;
        let content = read(&folder.join(name))?;
        Ok(Library { path, content })
    });
    libraries.collect()
}

/// The version of the workspace.
pub fn version() -> Result<String, String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"));
    let manifest = manifest.map_err(|error| format!("Cargo.toml: {error}"))?;
    let manifest: toml::Table = manifest
        .parse()
        .map_err(|error| format!("Cargo.toml: {error}"))?;
    let package = manifest.get("workspace").and_then(|it| it.get("package"));
    let version = package.and_then(|it| it.get("version")?.as_str());
    Ok(version.ok_or("Cargo.toml has no version")?.to_owned())
}

fn time() -> Result<u64, String> {
    let time = output(&root(), "git", &["log", "-1", "--format=%ct"])?;
    time.trim().parse().map_err(|error| format!("git: {error}"))
}

/// The names of the files in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// The content of a file.
pub fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The path as text.
pub fn path(path: &Path) -> Result<&str, String> {
    path.to_str()
        .ok_or_else(|| format!("{}: not UTF-8", path.display()))
}

/// Compressed without name and time, so that the same content has the same bytes.
pub fn gzip(content: &[u8]) -> Result<Vec<u8>, String> {
    piped("gzip", &["-9", "--no-name"], content)
}

/// The SHA-256 hash in hexadecimal digits.
pub fn sha256(content: &[u8]) -> Result<String, String> {
    digest("sha256sum", content)
}

/// The hash that dpkg knows files by.
pub fn md5(content: &[u8]) -> Result<String, String> {
    digest("md5sum", content)
}

fn digest(program: &str, content: &[u8]) -> Result<String, String> {
    let told = piped(program, &[], content)?;
    let told = String::from_utf8_lossy(&told);
    let hash = told.split_whitespace().next();
    Ok(hash
        .ok_or_else(|| format!("{program} printed nothing"))?
        .to_owned())
}

/// What a program makes of this input.
fn piped(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{program}: {error}");
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let input = input.to_vec();
    let mut into = child
        .stdin
        .take()
        .ok_or_else(|| format!("{program}: no input"))?;
    let writing = std::thread::spawn(move || into.write_all(&input));
    let output = child.wait_with_output().map_err(failed)?;
    let written = writing
        .join()
        .map_err(|_| format!("{program}: the thread panicked"))?;
    written.map_err(failed)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{program} failed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_program_are_the_files_that_ldd_names() {
        let listed = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibit.so => /dev/null (0x00007f)\n\t/proc/self/comm (0x00007f)\n";
        let libraries = libraries(listed).unwrap();
        let paths: Vec<_> = libraries
            .iter()
            .map(|it| it.path.to_str().unwrap())
            .collect();
        assert_eq!(paths, ["/dev/null", "/proc/self/comm"]);
        assert!(super::libraries("\tlibaway.so => not found\n").is_err());
    }

    #[test]
    fn the_libraries_of_a_foreign_program_are_those_that_readelf_names() {
        let folder =
            std::env::temp_dir().join(format!("selfsame-libraries-{}", std::process::id()));
        fs::create_dir_all(folder.join("lib")).unwrap();
        for name in ["libc.so.6", "ld-linux-toy.so.1"] {
            fs::write(folder.join("lib").join(name), name).unwrap();
        }
        let cross = Cross {
            target: "toy-unknown-linux-gnu",
            tools: "toy-linux-gnu",
            libraries: folder.to_str().unwrap().to_owned().leak(),
            emulator: "qemu-toy",
            packages: &[],
        };
        let listed = "      [Requesting program interpreter: /lib/ld-linux-toy.so.1]\n \
            0x01 (NEEDED)             Shared library: [libc.so.6]\n \
            0x01 (NEEDED)             Shared library: [ld-linux-toy.so.1]\n \
            0x0c (INIT)               0x4000\n";
        let libraries = foreign_libraries(listed, &cross).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let paths: Vec<_> = libraries
            .iter()
            .map(|it| it.path.to_str().unwrap())
            .collect();
        assert_eq!(
            paths,
            ["/lib/ld-linux-toy.so.1", "/lib/toy-linux-gnu/libc.so.6"]
        );
        assert_eq!(libraries[1].content, b"libc.so.6");
    }

    #[test]
    fn what_is_compressed_or_hashed_has_the_same_bytes_each_time() {
        assert_eq!(gzip(b"abc").unwrap(), gzip(b"abc").unwrap());
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc").unwrap(), hash);
        assert_eq!(md5(b"abc").unwrap(), "900150983cd24fb0d6963f7d28e17f72");
    }
}
