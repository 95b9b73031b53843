//! The build record of a Go program: the Go toolchain writes the module and the hash of its files into it.

/// The pinned module of the engine, with its hash from the Go checksum database; `xtask` pins the same.
pub(super) const PINNED: Module<'static> = Module {
    path: "github.com/cometbft/cometbft",
    version: "v0.38.26",
    hash: Some("h1:MIPYgOSvyyiN1jo3SZljKy4ZXqs896aQnj3pQFfUmaE="),
};

/// The first bytes of the record (Go's debug/buildinfo), which starts at a multiple of 16 bytes.
const MAGIC: &[u8] = b"\xff Go buildinf:";
const ALIGNED: usize = 16;
/// The length of the record's head. Two texts follow it: Go's version, and the build information.
const HEAD: usize = 32;
/// The flag of a record that contains its texts, as Go 1.18 and later write it.
const INLINE: u8 = 2;
/// The length of the marks before and after the build information.
const MARK: usize = 16;

/// A program's main module.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Module<'a> {
    pub(super) path: &'a str,
    pub(super) version: &'a str,
    /// `None` for a program built from a checkout, or for a module that was replaced by another.
    pub(super) hash: Option<&'a str>,
}

/// The main module of a Go program; `None` for any other program.
pub(super) fn main_module(program: &[u8]) -> Option<Module<'_>> {
    let mut places = program.chunks(ALIGNED).enumerate();
    places.find_map(|(place, chunk)| {
        let is_record = chunk.starts_with(MAGIC);
        let record = is_record.then(|| program.get(place.saturating_mul(ALIGNED)..))?;
        of_record(record?)
    })
}

fn of_record(record: &[u8]) -> Option<Module<'_>> {
    if record.get(MAGIC.len().saturating_add(1))? & INLINE == 0 {
        return None;
    }
    let (_, rest) = text(record.get(HEAD..)?)?;
    let (built, _) = text(rest)?;
    let built = built.get(MARK..built.len().checked_sub(MARK)?)?;
    let mut lines = std::str::from_utf8(built).ok()?.lines();
    let mut words = lines
        .find_map(|line| line.strip_prefix("mod\t"))?
        .split('\t');
    let (path, version, hash) = (words.next()?, words.next()?, words.next());
    // If the module was replaced, the next line names its replacement.
    let is_itself = !lines.next().is_some_and(|line| line.starts_with("=>"));
    Some(Module {
        path,
        version,
        hash: hash.filter(|hash| is_itself && !hash.is_empty()),
    })
}

/// A text with its length before it, seven bits a byte; returns the text and the bytes after it.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut length, mut shift) = (0_usize, 0_u32);
    for (at, byte) in bytes.iter().enumerate() {
        length |= usize::from(byte & 0x7f).checked_shl(shift)?;
        shift = shift.checked_add(7)?;
        if byte & 0x80 == 0 {
            return bytes.get(at.checked_add(1)?..)?.split_at_checked(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use selfsame_catalogue::{Language, sentence};

    use super::super::{Engine, VERSION};
    use super::*;

    /// A program that begins with `begins` and has these lines as its build information.
    fn program(begins: &str, lines: &str) -> Vec<u8> {
        let mut program = begins.as_bytes().to_vec();
        let place = begins.len().next_multiple_of(ALIGNED);
        program.resize(place, b'\n');
        program.extend(MAGIC);
        program.extend([8, INLINE]);
        program.resize(place + HEAD, 0);
        program.extend([4]);
        program.extend(b"go1.");
        let length = lines.len() + 2 * MARK;
        program.extend([(length & 0x7f | 0x80) as u8, (length >> 7) as u8]);
        program.extend([7; MARK]);
        program.extend(lines.as_bytes());
        program.extend([8; MARK]);
        program
    }

    #[test]
    fn a_go_program_says_which_module_it_was_built_from() {
        let Module {
            path,
            version,
            hash,
        } = PINNED;
        let said = |version: &str, hash: &str, more: &str| {
            program(
                "\x7fELF",
                &format!(
                    "path\t{path}/cmd/cometbft\nmod\t{path}\t{version}\t{hash}\n{more}dep\ta\tv1\th1:a=\n"
                ),
            )
        };
        let pinned = said(version, hash.unwrap(), "");
        assert_eq!(main_module(&pinned), Some(PINNED));
        let other = said(version, "h1:other=", "");
        assert_eq!(main_module(&other).unwrap().hash, Some("h1:other="));
        let checkout = said("(devel)", "", "");
        assert_eq!(main_module(&checkout).unwrap().hash, None);
        let replaced = said(
            version,
            hash.unwrap(),
            "=>\texample.org/other\tv1\th1:other=\n",
        );
        assert_eq!(main_module(&replaced).unwrap().hash, None);
        for end in 0..pinned.len() {
            assert_eq!(main_module(&pinned[..end]), None, "cut at {end}");
        }
        assert_eq!(main_module(b"#!/bin/sh\n"), None);
    }

    #[tokio::test]
    async fn a_program_that_calls_itself_the_engine_but_was_built_from_another_module_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cometbft");
        let taken = async |hash: &str| {
            let script = format!("#!/bin/sh\necho {VERSION}\nexit\n");
            let Module {
                path: module,
                version,
                ..
            } = PINNED;
            let lines = format!("mod\t{module}\t{version}\t{hash}\n");
            std::fs::write(&path, program(&script, &lines)).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            Engine::at(&path).await
        };
        assert!(taken(PINNED.hash.unwrap()).await.is_ok());
        let refused = taken("h1:other=").await.unwrap_err();
        let told = sentence(Language::English, &refused.reason);
        assert!(told.text.contains("is not built from"), "{refused}");
        assert!(told.hint.is_some());
        // A program without build information is accepted with a warning.
        assert!(taken("").await.is_ok());
    }

    #[test]
    fn it_is_the_module_that_xtask_builds() {
        let xtask = include_str!("../../../../xtask/src/engine.rs");
        for pinned in [PINNED.path, PINNED.version, PINNED.hash.unwrap()] {
            assert!(xtask.contains(&format!("\"{pinned}\"")), "{pinned}");
        }
    }
}
