//! Archives with the same bytes for the same content: tar (POSIX.1-1988 ustar) and ar, of which a `.deb` is made.

/// The length of a block of tar.
const BLOCK: usize = 512;

/// A file, a folder or a link of an archive.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its path, without a slash at its beginning.
    pub path: String,
    pub mode: u32,
    /// The number of its user and of its group.
    pub owner: u32,
    pub kind: Kind,
}

/// What an entry is.
#[derive(Clone, Debug)]
pub enum Kind {
    Folder,
    File(Vec<u8>),
}

impl Entry {
    /// A file of root that everyone may read.
    pub fn file(path: &str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.to_owned(),
            mode: 0o644,
            owner: 0,
            kind: Kind::File(content.into()),
        }
    }

    /// A folder of root that everyone may read.
    pub fn folder(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            mode: 0o755,
            owner: 0,
            kind: Kind::Folder,
        }
    }

    /// With these permissions.
    pub fn mode(self, mode: u32) -> Self {
        Self { mode, ..self }
    }

    /// Of this user.
    pub fn owner(self, owner: u32) -> Self {
        Self { owner, ..self }
    }

    /// The content of a file; nothing of a folder.
    pub fn content(&self) -> &[u8] {
        match &self.kind {
            Kind::File(content) => content,
            Kind::Folder => &[],
        }
    }
}

/// The entries, and the folders that they are in, each once, in the order of their paths.
pub fn with_folders(mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut above: Vec<String> = Vec::new();
    for entry in &entries {
        let cuts = entry.path.match_indices('/');
        above.extend(cuts.map(|(at, _)| entry.path[..at].to_owned()));
    }
    above.sort();
    above.dedup();
    above.retain(|path| !entries.iter().any(|entry| entry.path == *path));
    entries.extend(above.iter().map(|path| Entry::folder(path)));
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries
}

/// A tar archive. Each path begins with `prefix`, such as `./`; each time is this one, in seconds since 1970.
pub fn tar(entries: &[Entry], prefix: &str, time: u64) -> Result<Vec<u8>, String> {
    let mut archive = Vec::new();
    for entry in entries {
        let content = entry.content();
        archive.extend_from_slice(&header(entry, prefix, time)?);
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

fn header(entry: &Entry, prefix: &str, time: u64) -> Result<[u8; BLOCK], String> {
    let (kind, slash) = match entry.kind {
        Kind::Folder => (b'5', "/"),
        Kind::File(_) => (b'0', ""),
    };
    let name = format!("{prefix}{}{slash}", entry.path);
    if name.len() > 100 {
        return Err(format!("{name}: the path is too long for tar"));
    }
    let mut header = [0; BLOCK];
    let mut put =
        |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, &name);
    put(100, &format!("{:07o}", entry.mode));
    put(108, &format!("{:07o}", entry.owner));
    put(116, &format!("{:07o}", entry.owner));
    put(124, &format!("{:011o}", entry.content().len()));
    put(136, &format!("{time:011o}"));
    put(148, "        ");
    put(257, "ustar\x0000");
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

/// A member of an ar archive.
pub struct Member<'a> {
    pub name: &'a str,
    pub content: &'a [u8],
}

/// An ar archive, as deb(5) wants it: members in this order, of root.
pub fn ar(members: &[Member<'_>], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for Member { name, content } in members {
        let length = content.len();
        let header = format!(
            "{name:<16}{time:<12}{:<6}{:<6}{:<8}{length:<10}`\n",
            0, 0, 100_644
        );
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(content);
        if length % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn tar_reads_what_is_written_with_its_owners_modes_and_contents() {
        let folder = std::env::temp_dir().join(format!("selfsame-tar-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let entries = with_folders(vec![
            Entry::file("usr/bin/it", b"#!/bin/sh\n".to_vec()).mode(0o755),
            Entry::folder("var/lib/it").mode(0o700).owner(7380),
        ]);
        let archive = tar(&entries, "./", 1_000_000_000).unwrap();
        let file = folder.join("it.tar");
        std::fs::write(&file, &archive).unwrap();
        let listed = Command::new("tar")
            .args(["--numeric-owner", "--utc", "-tvf"])
            .arg(&file)
            .output()
            .unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let lines: Vec<Vec<&str>> = listed
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let shown: Vec<_> = lines
            .iter()
            .map(|line| (line[0], line[1], line[5]))
            .collect();
        assert_eq!(
            shown,
            [
                ("drwxr-xr-x", "0/0", "./usr/"),
                ("drwxr-xr-x", "0/0", "./usr/bin/"),
                ("-rwxr-xr-x", "0/0", "./usr/bin/it"),
                ("drwxr-xr-x", "0/0", "./var/"),
                ("drwxr-xr-x", "0/0", "./var/lib/"),
                ("drwx------", "7380/7380", "./var/lib/it/"),
            ]
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_path_that_tar_can_not_hold_is_refused() {
        assert!(tar(&[Entry::file(&"a".repeat(101), "")], "", 0).is_err());
    }
}
